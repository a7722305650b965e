/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What generated code knows of when values come: ready times of registers, carried from
 * block to block, slow arithmetic included, and the exits at which they are written. */
#include "instrument.h"

/* Some of REGISTERS come later than the window can bridge. */
static VG_REGPARM(1) void call_hold(ULong registers)
{
        thread_hold(&tool_hot, tool_thread, hot_latest_ready(&tool_hot, registers));
}

/* In the generated code: when the block's first instruction issued. */
static IRExpr *issue_time(struct pass *pass)
{
        IRExpr *now =
            ir_binary(pass, Ity_I64, Iop_Add64, ir_read_hot(pass, &tool_hot.instructions),
                      ir_read_hot(pass, &tool_hot.stall));

        return ir_binary(pass, Ity_I64, Iop_Sub64, now, ir_constant(pass->counted));
}

static IRExpr *ready_through(struct pass *pass, struct depend depends, UInt number)
{
        UInt delay = depend_delay_from(depends, number);
        IRExpr *ready = number == ISSUE_TIME ? issue_time(pass)
                                             : ir_read_hot(pass, &tool_hot.ready[number]);

        return delay == 0
                   ? ready
                   : ir_binary(pass, Ity_I64, Iop_Add64, ready, ir_constant(delay));
}

static IRExpr *later_of(struct pass *pass, IRExpr *a, IRExpr *b)
{
        IRExpr *b_is_later = ir_binary(pass, Ity_I1, Iop_CmpLT64U, a, b);

        return ir_assign(pass, Ity_I64, IRExpr_ITE(b_is_later, b, a));
}

/* The generated code's latest ready time of what goes into a value. */
static IRExpr *latest_ready(struct pass *pass, struct depend depends)
{
        IRExpr *latest = NULL;

        for (ULong rest = depends.on; rest != 0; rest &= rest - 1) {
                IRExpr *ready = ready_through(pass, depends, ir_first_of(rest));
                latest = latest == NULL ? ready : later_of(pass, latest, ready);
        }
        pass->used |= depends.on;
        return latest == NULL ? ir_constant(0) : latest;
}

/* The values that an address waits for. One that slow arithmetic leads to becomes a value
 * of its own, as long as there are slots. */
ULong ready_without_delay(struct pass *pass, struct depend depends)
{
        UInt slot = FIRST_SLOT + pass->loads;

        if (depends.delay == 0)
                return depends.on;
        if (slot == LAST_SLOT)
                return depends.on & ~(1ULL << ISSUE_TIME);
        pass->loads++;
        ir_write_hot(pass, &tool_hot.ready[slot], latest_ready(pass, depends));
        return 1ULL << slot;
}

static void write_ready(struct pass *pass, UInt id, IRExpr *ready, IRExpr *guard)
{
        IRExpr *place = ir_constant((Addr)&tool_hot.ready[id]);

        addStmtToIRSB(pass->out, guard == NULL
                                     ? IRStmt_Store(Iend_LE, place, ready)
                                     : IRStmt_StoreG(Iend_LE, place, ready, guard));
}

static Bool same(struct depend a, struct depend b)
{
        return a.on == b.on && a.delay == b.delay;
}

/* Registers that slow arithmetic leads to take their place in the window, as loads do,
 * when they come later than that can bridge. */
static void hold_window(struct pass *pass, IRExpr *const *ready)
{
        const ULong window = (ULong)tool_machine.params.rob_entries;
        const UChar sign_bit = 63;
        IRExpr *bridged = NULL;
        IRExpr *beyond = NULL;
        ULong registers = 0;

        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                if (ready[id] == NULL || pass->depend.of_register[id].delay == 0)
                        continue;
                if (bridged == NULL)
                        bridged = ir_binary(pass, Ity_I64, Iop_Add64, issue_time(pass),
                                            ir_constant(pass->counted + window));
                IRExpr *left = ir_binary(pass, Ity_I64, Iop_Sub64, bridged, ready[id]);
                beyond = beyond == NULL
                             ? left
                             : ir_binary(pass, Ity_I64, Iop_Or64, beyond, left);
                registers |= 1ULL << id;
        }
        if (registers == 0)
                return;
        ir_add_call(
            pass,
            unsafeIRDirty_0_N(1, "simpmu_hold", VG_(fnptr_to_fnentry)(&call_hold),
                              mkIRExprVec_1(ir_constant(registers))),
            ir_assign(
                pass, Ity_I1,
                IRExpr_Unop(Iop_64to1, ir_binary(pass, Ity_I64, Iop_Shr64, beyond,
                                                 IRExpr_Const(IRConst_U8(sign_bit))))));
}

void ready_add_exit(struct pass *pass, IRExpr *guard)
{
        IRExpr *ready[REGISTERS_END];
        const struct depend *depends = pass->depend.of_register;

        if (!pass->follow)
                return;
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                ready[id] = NULL;
                if (!depend_changed(&pass->depend, id))
                        continue;
                for (UInt other = FIRST_REGISTER; other < id; other++) {
                        if (ready[other] != NULL && same(depends[other], depends[id]))
                                ready[id] = ready[other];
                }
                if (ready[id] == NULL)
                        ready[id] = latest_ready(pass, depends[id]);
        }
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                if (ready[id] != NULL)
                        write_ready(pass, id, ready[id], guard);
        }
        if (guard == NULL)
                hold_window(pass, ready);
}
