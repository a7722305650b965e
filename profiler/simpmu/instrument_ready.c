/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What generated code knows of when values come: ready times of registers, carried from
 * block to block, slow arithmetic included, and the exits at which they are written. */
#include "instrument.h"

/* In the generated code: when the block's first instruction issued. */
static IRExpr *issue_time(struct pass *pass)
{
        IRExpr *now =
            ir_binary(pass, Ity_I64, Iop_Add64, ir_read_hot(pass, &tool_hot.instructions),
                      ir_read_hot(pass, &tool_hot.stall));

        return ir_binary(pass, Ity_I64, Iop_Sub64, now, ir_constant(pass->counted));
}

static IRExpr *ready_through(struct pass *pass, struct depend depends, UInt number,
                             IRExpr *issued)
{
        UInt delay = depend_delay_from(depends, number);
        IRExpr *ready =
            number == ISSUE_TIME ? issued : ir_read_hot(pass, &tool_hot.ready[number]);

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
static IRExpr *latest_ready(struct pass *pass, struct depend depends, IRExpr *issued)
{
        IRExpr *latest = NULL;

        for (ULong rest = depends.on; rest != 0; rest &= rest - 1) {
                IRExpr *ready = ready_through(pass, depends, ir_first_of(rest), issued);
                latest = latest == NULL ? ready : later_of(pass, latest, ready);
        }
        pass->used |= depends.on;
        return latest == NULL ? ir_constant(0) : latest;
}

struct waits ready_waits(struct pass *pass, struct depend depends)
{
        const UInt fewest = 2;
        const ULong issue = 1ULL << ISSUE_TIME;
        UInt issue_delay =
            (depends.on & issue) != 0 ? depend_delay_from(depends, ISSUE_TIME) : 0;
        struct waits waits = {
            .on = depends.on & ~issue,
            .issue_delay = issue_delay > pass->index ? issue_delay - pass->index : 0,
        };
        uint32_t *delays;
        UInt count = 0;

        pass->used |= waits.on;
        if (depends.delay == 0 || waits.on == 0)
                return waits;
        for (ULong rest = waits.on; rest != 0; rest &= rest - 1)
                count++;
        delays = site_new(pass, (count + fewest) * sizeof(*delays));
        waits.delays = delays;
        for (ULong rest = waits.on; rest != 0; rest &= rest - 1)
                *delays++ = depend_delay_from(depends, ir_first_of(rest));
        for (; count < fewest; count++)
                *delays++ = 0;
        return waits;
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
        return a.on == b.on && a.delay == b.delay && a.operation == b.operation;
}

/* What comes a hit of L1 or less after the COUNTED instructions of the block have issued
 * needs no ready time because of when they did. Too generous: a short chain of simple
 * instructions that begins anew there runs at the speed of issue. */
static struct depend without_past_issue(const struct pass *pass, struct depend depends)
{
        const ULong issue = 1ULL << ISSUE_TIME;
        const ULong soon =
            pass->counted + pass->depend.cycle_slots + (ULong)tool_machine.l1d_latency;

        /* Its delay stands last. */
        if ((depends.on & issue) != 0 && depend_delay_from(depends, ISSUE_TIME) <= soon)
                depends.on &= ~issue;
        return depends;
}

void ready_add_exit(struct pass *pass, IRExpr *guard)
{
        IRExpr *ready[REGISTERS_END];
        const struct depend *depends = pass->depend.of_register;
        IRExpr *issued = NULL;

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
                if (ready[id] == NULL) {
                        struct depend value = without_past_issue(
                            pass, depend_settled(&pass->depend, depends[id]));
                        if (issued == NULL && (value.on >> ISSUE_TIME & 1) != 0)
                                issued = issue_time(pass);
                        ready[id] = latest_ready(pass, value, issued);
                }
        }
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                if (ready[id] != NULL)
                        write_ready(pass, id, ready[id], guard);
        }
}
