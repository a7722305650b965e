/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delivery of instructions: the front end's clock (model/machine/fetch.h), inline. It
 * calls the model where a line may not be decoded, and where the front end is late.
 *
 * Without branches it is followed only in a block that is a loop of its own and lies in
 * several lines: such a loop may take longer than issue. Elsewhere the front end is
 * assumed to keep up, as it does within a line.
 */
#include "instrument.h"

#include "model/machine/fetch.h"

static VG_REGPARM(2) void call_line(ULong line, UWord instructions)
{
        fetch_line(&tool_machine, &tool_hot, tool_thread, line, (UInt)instructions);
}

/* STRETCH: NULL where no wrong path is followed. */
static VG_REGPARM(1) void call_wait(const struct code_stretch *stretch)
{
        if (tool_thread->wrong.followed)
                wrong_path_stretch(&tool_hot, tool_thread, stretch);
        if ((Long)tool_hot.fetched >
            (Long)(tool_thread->stall + fetch_slack(&tool_machine)))
                fetch_wait(&tool_hot, tool_thread);
}

/* The call writes the clocks of the front end and the thread: copies from before the
 * call are stale. */
static void add_call(struct pass *pass, IRDirty *call, IRExpr *guard)
{
        _Static_assert(offsetof(struct sim_hot, fetched) ==
                           offsetof(struct sim_hot, stall) + sizeof(uint64_t),
                       "one range");
        call->mFx = Ifx_Modify;
        call->mAddr = ir_constant((Addr)&tool_hot.stall);
        call->mSize = 2 * sizeof(uint64_t);
        ir_add_call(pass, call, guard);
}

/* The next INSTRUCTIONS of the stretch lie in LINE. */
static void add_line(struct pass *pass, ULong line, UInt instructions)
{
        const uint64_t *known = &tool_hot.code_line[line & (CODE_LINES - 1)];
        IRDirty *call;

        if (!pass->follow_branches)
                return;
        call = unsafeIRDirty_0_N(
            2, "simpmu_line", VG_(fnptr_to_fnentry)(&call_line),
            mkIRExprVec_2(ir_constant(line), ir_constant(instructions)));
        add_call(pass, call,
                 ir_binary(pass, Ity_I1, Iop_CmpNE64, ir_read_hot(pass, known),
                           ir_constant(line)));
}

/* The instruction of LENGTH bytes at IP comes next. Returns the slots at which it
 * begins a run, or a part of a run. An instruction belongs to the line of its first byte.
 * A block's first instruction continues the previous run. If a branch ended that run, the
 * branch's block has counted it. */
static UInt begin_instruction(struct pass *pass, Addr ip, UInt length)
{
        Bool goes_on = pass->run_ip == 0 ||
                       (ip == pass->run_ip && ip >> LINE_SHIFT == pass->run_line);
        Bool same_part =
            goes_on &&
            (!pass->follow_branches ||
             pass->run_length < (UInt)tool_machine.params.fetch_run_instructions);

        pass->run_ip = ip + length;
        pass->run_line = ip >> LINE_SHIFT;
        pass->run_length = same_part ? pass->run_length + 1 : 1;
        return same_part ? 0 : pass->run_slots;
}

static Bool is_loop(const struct pass *pass)
{
        const IRSB *in = pass->in;

        if (in->next->tag == Iex_Const && in->next->Iex.Const.con->Ico.U64 == pass->start)
                return True;
        for (Int i = 0; i < in->stmts_used; i++)
                if (in->stmts[i]->tag == Ist_Exit &&
                    in->stmts[i]->Ist.Exit.dst->Ico.U64 == pass->start)
                        return True;
        return False;
}

/* Whether the core repeats the block without fetching it again: a string instruction, or
 * a loop of COUNT instructions that its queue holds. */
static Bool is_repeated(const struct pass *pass, const IRStmt *first, UInt count)
{
        return string_is_repeated(pass->start, first->Ist.IMark.len) ||
               count <= (UInt)tool_machine.params.fetch_loop_instructions;
}

void fetch_begin_block(struct pass *pass, Int from)
{
        const Bool loop = from < pass->in->stmts_used && is_loop(pass);
        UInt slots, count = 0, of_pass = 0; /* VEX may repeat a short loop in its block */

        pass->run_slots = (UInt)tool_machine.fetch.run_slots;
        slots = pass->run_slots; /* of the jump back */
        for (Int i = from; i < pass->in->stmts_used && loop; i++) {
                const IRStmt *mark = pass->in->stmts[i];
                if (mark->tag != Ist_IMark)
                        continue;
                slots +=
                    begin_instruction(pass, mark->Ist.IMark.addr, mark->Ist.IMark.len);
                count++;
                of_pass = mark->Ist.IMark.addr == pass->start ? 1 : of_pass + 1;
        }
        pass->run_ip = 0;
        pass->run_length = 0;
        pass->loop_instructions = of_pass;
        if (loop && is_repeated(pass, pass->in->stmts[from], of_pass))
                pass->run_slots = 0;
        pass->follow_fetch =
            pass->follow_branches ||
            (loop && pass->follow && pass->run_slots > 0 && slots > count);
}

/* The front end's clock after COUNT instructions, which take it SLOTS; no further ahead
 * of the thread than its queue reaches. */
static void advance(struct pass *pass, UInt slots, UInt count,
                    const struct code_stretch *stretch)
{
        const ULong queue = (ULong)tool_machine.params.fetch_queue_entries;
        IRExpr *stall = ir_read_hot(pass, &tool_hot.stall);
        IRExpr *earliest = ir_binary(pass, Ity_I64, Iop_Sub64, stall, ir_constant(queue));
        IRExpr *fetched =
            ir_binary(pass, Ity_I64, Iop_Add64, ir_read_hot(pass, &tool_hot.fetched),
                      ir_constant((ULong)slots - count));
        IRExpr *full = ir_binary(pass, Ity_I1, Iop_CmpLT64S, fetched, earliest);
        IRDirty *call =
            unsafeIRDirty_0_N(1, "simpmu_fetch", VG_(fnptr_to_fnentry)(&call_wait),
                              mkIRExprVec_1(ir_constant((Addr)stretch)));

        fetched = ir_assign(pass, Ity_I64, IRExpr_ITE(full, earliest, fetched));
        ir_write_hot(pass, &tool_hot.fetched, fetched);
        add_call(pass, call,
                 ir_binary(pass, Ity_I1, Iop_CmpLT64S,
                           ir_read_hot(pass, &tool_hot.fetch_limit), fetched));
}

void fetch_add_stretch(struct pass *pass, Int from)
{
        UInt count = 0, in_line = 0, slots = 0;
        ULong line = NO_CODE_LINE;

        if (!pass->follow_fetch)
                return;
        for (Int i = from; i < pass->in->stmts_used; i++) {
                const IRStmt *mark = pass->in->stmts[i];
                if (mark->tag == Ist_Exit)
                        break;
                if (mark->tag != Ist_IMark || heap_is_tracker(mark->Ist.IMark.addr))
                        continue;
                slots +=
                    begin_instruction(pass, mark->Ist.IMark.addr, mark->Ist.IMark.len);
                if (in_line > 0 && mark->Ist.IMark.addr >> LINE_SHIFT != line) {
                        add_line(pass, line, in_line);
                        in_line = 0;
                }
                line = mark->Ist.IMark.addr >> LINE_SHIFT;
                in_line++;
                count++;
        }
        if (count == 0)
                return;
        add_line(pass, line, in_line);
        if (pass->run_slots == 0)
                slots = count;
        advance(pass, slots, count,
                pass->follow_branches ? wrong_begin_stretch(pass, from, count) : NULL);
}

void fetch_add_exit(struct pass *pass, const IRStmt *exit)
{
        IRExpr *taken;

        /* VEX may leave the block where the branch is not taken. */
        if (!pass->follow_fetch || pass->excluded || exit->Ist.Exit.jk != Ijk_Boring ||
            exit->Ist.Exit.dst->Ico.U64 == pass->run_ip)
                return;
        taken = ir_assign(pass, Ity_I64, IRExpr_Unop(Iop_1Uto64, exit->Ist.Exit.guard));
        ir_write_hot(pass, &tool_hot.fetched,
                     ir_binary(pass, Ity_I64, Iop_Add64,
                               ir_read_hot(pass, &tool_hot.fetched),
                               ir_binary(pass, Ity_I64, Iop_Mul64, taken,
                                         ir_constant(pass->run_slots))));
}

/* The slots of the instruction that ends the block. */
static ULong slots_of_end(const struct pass *pass)
{
        const IRSB *block = pass->in;

        if (block->jumpkind == Ijk_Ret)
                return tool_machine.fetch.return_slots;
        if (block->next->tag != Iex_Const)
                return tool_machine.fetch.indirect_slots;
        return pass->run_slots;
}

void fetch_add_end(struct pass *pass)
{
        const IRExpr *next = pass->in->next;

        if (!pass->follow_fetch || pass->excluded ||
            (next->tag == Iex_Const && next->Iex.Const.con->Ico.U64 == pass->run_ip))
                return;
        (void)ir_add_to_hot(pass, &tool_hot.fetched, slots_of_end(pass));
}
