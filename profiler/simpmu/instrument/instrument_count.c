/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of instructions, loads and busy slots, one addition for each stretch between
 * exits, and the check at the entry that serves the gate and the intervals. */
#include "instrument.h"
#include "prefetch_instruction.h"

static VG_REGPARM(1) void call_check(UInt *guest_state)
{
        threads_check(guest_state);
}

/* A software prefetch does, as the events of processors say. */
static Bool counts_as_load(const IRStmt *statement)
{
        struct prefetch_instruction prefetch;

        switch (statement->tag) {
        case Ist_IMark:
                return prefetch_instruction_decode(
                    (const UChar *)(Addr)statement->Ist.IMark.addr,
                    statement->Ist.IMark.len, &prefetch);
        case Ist_WrTmp:
                return statement->Ist.WrTmp.data->tag == Iex_Load;
        case Ist_LoadG:
                return True;
        case Ist_Dirty:
                return statement->Ist.Dirty.details->mFx == Ifx_Read ||
                       statement->Ist.Dirty.details->mFx == Ifx_Modify;
        default:
                return False;
        }
}

static Bool counts_as_store(const IRStmt *statement)
{
        switch (statement->tag) {
        case Ist_Store:
        case Ist_StoreG:
        case Ist_CAS:
                return True;
        case Ist_Dirty:
                return statement->Ist.Dirty.details->mFx == Ifx_Write ||
                       statement->Ist.Dirty.details->mFx == Ifx_Modify;
        default:
                return False;
        }
}

struct arithmetic_cost count_arithmetic(const IRExpr *e)
{
        return arithmetic_cost(&tool_machine.params, tool_machine.slots_per_cycle, e);
}

static UInt port_slots(const struct pass *pass, const IRStmt *statement)
{
        return pass->follow && statement->tag == Ist_WrTmp
                   ? count_arithmetic(statement->Ist.WrTmp.data).port_slots
                   : 0;
}

static Bool goes_back(const struct pass *pass, const IRConst *target)
{
        return target->Ico.U64 <= pass->start;
}

/* Every iteration of a loop passes a block for which this is true: the block jumps
 * back or indirectly. */
static Bool may_end_a_loop(const struct pass *pass)
{
        const IRSB *in = pass->in;

        if (in->next->tag != Iex_Const || goes_back(pass, in->next->Iex.Const.con))
                return True;
        for (Int i = 0; i < in->stmts_used; i++) {
                if (in->stmts[i]->tag == Ist_Exit &&
                    goes_back(pass, in->stmts[i]->Ist.Exit.dst))
                        return True;
        }
        return False;
}

static VG_REGPARM(1) void call_executed(const struct executed_stretch *stretch)
{
        executed_sample(stretch);
}

/* Instructions retire in order, so a timer finds the program at slow ones. Each takes one
 * slot of the time, a load as many as its latency has cycles. That assumes that latencies
 * overlap as issue does. */
void count_latency(struct pass *pass, UInt slots)
{
        struct executed_stretch *stretch = pass->executed;
        const UInt cycles = slots / (UInt)tool_machine.slots_per_cycle;
        const UInt index = pass->index - pass->executed_from;

        if (stretch == NULL || index >= stretch->count ||
            cycles <= stretch->each[index].slots)
                return;
        stretch->slots += cycles - stretch->each[index].slots;
        stretch->each[index].slots = cycles;
}

/* What runs behind the instruction of MARK, the last one of the block, is elsewhere. */
static Bool leaves(const IRSB *in, const IRStmt *mark)
{
        const Addr ip = mark->Ist.IMark.addr;

        if (in->jumpkind == Ijk_Call || in->jumpkind == Ijk_Ret)
                return True;
        if (in->jumpkind != Ijk_Boring)
                return False;
        return in->next->tag != Iex_Const ||
               (in->next->Iex.Const.con->Ico.U64 != ip + mark->Ist.IMark.len &&
                in->next->Iex.Const.con->Ico.U64 != ip); /* repeated */
}

/* Lists the instructions from statement FROM up to an exit. VEX follows some jumps within
 * a block: their time counts where they lead. */
static void list_executed(const IRSB *in, Int from, struct executed_stretch *stretch)
{
        const IRStmt *last = NULL;
        Int i = from;

        stretch->count = 0;
        for (; i < in->stmts_used && in->stmts[i]->tag != Ist_Exit; i++) {
                const IRStmt *mark = in->stmts[i];
                if (mark->tag != Ist_IMark || heap_is_tracker(mark->Ist.IMark.addr))
                        continue;
                if (last != NULL &&
                    last->Ist.IMark.addr + last->Ist.IMark.len != mark->Ist.IMark.addr)
                        stretch->each[stretch->count - 1].ip = mark->Ist.IMark.addr;
                stretch->each[stretch->count++] =
                    (struct executed){mark->Ist.IMark.addr, 1};
                last = mark;
        }
        stretch->leaves = i == in->stmts_used && leaves(in, last);
}

/* COUNT instructions from statement FROM on, after which the thread has executed SUM, may
 * contain one that is sampled. */
static void add_executed(struct pass *pass, Int from, UInt count, IRExpr *sum)
{
        struct executed_stretch *stretch =
            site_new(pass, sizeof(*stretch) + count * sizeof(stretch->each[0]));
        IRDirty *call;

        list_executed(pass->in, from, stretch);
        stretch->slots = count;
        pass->executed = stretch;
        pass->executed_from = pass->counted;
        call =
            unsafeIRDirty_0_N(1, "simpmu_executed", VG_(fnptr_to_fnentry)(&call_executed),
                              mkIRExprVec_1(ir_constant((Addr)stretch)));
        ir_add_call(pass, call,
                    ir_not(pass, ir_binary(pass, Ity_I1, Iop_CmpLE64U, sum,
                                           ir_read_hot(pass, &tool_hot.executed_limit))));
}

void count_stretch(struct pass *pass, Int from)
{
        UInt instructions = 0;
        UInt loads = 0;
        UInt stores = 0;
        Bool excluded = pass->excluded;
        UInt busy = 0; /* slots that the port of slow arithmetic executes */
        UInt of_instruction = 0;
        Bool load_seen = False; /* in the current instruction */
        IRExpr *sum;

        for (Int i = from; i < pass->in->stmts_used; i++) {
                const IRStmt *statement = pass->in->stmts[i];
                if (counts_as_store(statement))
                        stores += !excluded;
                if (statement->tag == Ist_IMark) {
                        excluded = heap_is_tracker(statement->Ist.IMark.addr);
                        instructions += !excluded;
                        loads += !excluded && counts_as_load(statement);
                        load_seen = False;
                        busy += of_instruction;
                        of_instruction = 0;
                } else if (!excluded && port_slots(pass, statement) > of_instruction) {
                        of_instruction = port_slots(pass, statement);
                } else if (counts_as_load(statement)) {
                        loads += !excluded;
                        load_seen = True;
                } else if (statement->tag == Ist_CAS && !load_seen) {
                        loads += !excluded;
                } else if (statement->tag == Ist_Exit) {
                        break;
                }
        }
        busy += of_instruction;
        if (loads > 0)
                (void)ir_add_to_hot(pass, &tool_hot.loads, loads);
        if (stores > 0)
                (void)ir_add_to_hot(pass, &tool_hot.stores, stores);
        pass->stores_counted += stores;
        if (busy > instructions)
                (void)ir_add_to_hot(pass, &tool_hot.busy, busy - instructions);
        if (instructions == 0)
                return;
        sum = ir_add_to_hot(pass, &tool_hot.instructions, instructions);
        if (executed_are_sampled())
                add_executed(pass, from, instructions, sum);
        if (pass->counted == 0 && may_end_a_loop(pass)) {
                IRDirty *call = unsafeIRDirty_0_N(1, "simpmu_check",
                                                  VG_(fnptr_to_fnentry)(&call_check),
                                                  mkIRExprVec_1(IRExpr_GSPTR()));
                ir_reads_frame(pass, call); /* VEX wants GSPTR to have some effect */
                ir_add_call(
                    pass, call,
                    ir_not(pass,
                           ir_binary(pass, Ity_I1, Iop_CmpLE64U, sum,
                                     ir_read_hot(pass, &tool_hot.instruction_limit))));
        }
        pass->instructions = sum;
        pass->counted += instructions;
}
