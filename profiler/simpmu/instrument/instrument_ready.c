/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ready times of registers in generated code: they are carried from block to block,
 * slow arithmetic included, and written at the exits. */
#include "instrument.h"

/* A register whose value comes from a load that may be late. */
struct late_register {
        UChar slot;
        UChar id;
        UInt delay; /* slots from the load's value to the register's */
};

/* All late registers at an exit. Their ready times have already been written, without
 * lateness. */
struct late_registers {
        UInt count;
        struct late_register each[];
};

static VG_REGPARM(1) void call_late(const struct late_registers *registers)
{
        const uint64_t late = tool_hot.late;

        for (UInt i = 0; i < registers->count; i++) {
                const struct late_register *to = &registers->each[i];
                if ((late >> to->slot & 1) != 0)
                        tool_hot.ready[to->id] = later(
                            tool_hot.ready[to->id], tool_hot.ready[to->slot] + to->delay);
        }
        for (ULong rest = late; rest != 0; rest &= rest - 1)
                tool_hot.ready[ir_first_of(rest)] = 0;
        tool_hot.late = 0;
}

void ready_begin_exit(struct pass *pass)
{
        IRExpr *counted;
        IRExpr *now;

        if (!pass->follow)
                return;
        counted = pass->instructions != NULL ? pass->instructions
                                             : ir_read_hot(pass, &tool_hot.instructions);
        now = ir_binary(pass, Ity_I64, Iop_Add64, counted,
                        ir_read_hot(pass, &tool_hot.stall));
        pass->issued =
            ir_binary(pass, Ity_I64, Iop_Sub64, now, ir_constant(pass->counted));
}

/* Ready times, each read once, as they were before an exit wrote any. */
struct times {
        IRExpr *of[VALUES];
};

static IRExpr *ready_through(struct pass *pass, struct times *times,
                             struct depend depends, UInt number)
{
        UInt delay = depend_delay_from(depends, number);

        if (times->of[number] == NULL)
                times->of[number] = number == ISSUE_TIME
                                        ? pass->issued
                                        : ir_read_hot(pass, &tool_hot.ready[number]);
        return delay == 0 ? times->of[number]
                          : ir_binary(pass, Ity_I64, Iop_Add64, times->of[number],
                                      ir_constant(delay));
}

static IRExpr *later_of(struct pass *pass, IRExpr *a, IRExpr *b)
{
        IRExpr *b_is_later = ir_binary(pass, Ity_I1, Iop_CmpLT64U, a, b);

        return ir_assign(pass, Ity_I64, IRExpr_ITE(b_is_later, b, a));
}

/* The latest ready time of a value's dependences, in generated code. */
static IRExpr *latest_ready(struct pass *pass, struct times *times, struct depend depends)
{
        IRExpr *latest = NULL;

        for (ULong rest = depends.on; rest != 0; rest &= rest - 1) {
                IRExpr *ready = ready_through(pass, times, depends, ir_first_of(rest));
                latest = latest == NULL ? ready : later_of(pass, latest, ready);
        }
        return latest == NULL ? ir_constant(0) : latest;
}

IRExpr *ready_when_stored(struct pass *pass, struct depend value)
{
        const ULong issue = 1ULL << ISSUE_TIME;
        struct times times = {{NULL}};

        value = depend_settled(&pass->depend, value);
        pass->used |= value.on & ~issue;
        /* Its delay stands last. */
        if ((value.on & issue) != 0 &&
            depend_delay_from(value, ISSUE_TIME) <= pass->index)
                value.on &= ~issue;
        if ((value.on & issue) != 0) {
                ready_begin_exit(pass);
                times.of[ISSUE_TIME] = pass->issued;
        }
        return latest_ready(pass, &times, value);
}

struct waits ready_waits(struct pass *pass, struct depend depends)
{
        const ULong issue = 1ULL << ISSUE_TIME;
        const ULong values = depends.on & ~issue;
        UInt issue_delay =
            (depends.on & issue) != 0 ? depend_delay_from(depends, ISSUE_TIME) : 0;
        uint32_t *delays = NULL;
        UInt count = 0;

        pass->used |= values;
        for (ULong rest = values; rest != 0; rest &= rest - 1)
                count++;
        if (depends.delay != 0 && count > 0) {
                UInt *delay = delays = site_new(pass, count * sizeof(*delays));
                for (ULong rest = values; rest != 0; rest &= rest - 1)
                        *delay++ = depend_delay_from(depends, ir_first_of(rest));
        }
        return waits_for(values, delays,
                         issue_delay > pass->index ? issue_delay - pass->index : 0);
}

static void write_ready(struct pass *pass, UInt id, IRExpr *ready)
{
        ir_write_hot(pass, &tool_hot.ready[id], ready);
}

static Bool same(struct depend a, struct depend b)
{
        return a.on == b.on && a.delay == b.delay && a.operation == b.operation;
}

/* Drops ISSUE_TIME where its delay is at most an L1 hit after the block's COUNTED
 * instructions: such a value needs no ready time from issue. */
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

/* A register's dependences, without late loads. */
static struct depend without_loads(const struct pass *pass, struct depend depends)
{
        const UInt stretch = pass->counted - pass->counted_at_exit;

        depends = without_past_issue(pass, depend_settled(&pass->depend, depends));
        return depend_without_short_delays(depend_among(depends, ~SLOTS_MASK), stretch);
}

static Bool is_itself(struct depend depends, UInt id)
{
        return depends.on == 1ULL << id && depends.delay == 0;
}

static void write_registers(struct pass *pass, ULong unread)
{
        struct depend depends[REGISTERS_END];
        IRExpr *ready[REGISTERS_END] = {NULL};
        struct times times = {{NULL}};

        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                if ((unread >> id & 1) != 0 || !depend_changed(&pass->depend, id))
                        continue;
                depends[id] = without_loads(pass, pass->depend.of_register[id]);
                if (is_itself(depends[id], id))
                        continue;
                for (UInt other = FIRST_REGISTER; other < id; other++) {
                        if (ready[other] != NULL && same(depends[other], depends[id]))
                                ready[id] = ready[other];
                }
                if (ready[id] == NULL)
                        ready[id] = latest_ready(pass, &times, depends[id]);
        }
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                if (ready[id] != NULL)
                        write_ready(pass, id, ready[id]);
        }
}

/* Slots whose loads REGISTER's value waits for. */
static ULong loads_of(const struct pass *pass, UInt id, ULong unread)
{
        return (unread >> id & 1) != 0 ? 0 : pass->depend.of_register[id].on & SLOTS_MASK;
}

static UInt count_late(const struct pass *pass, ULong unread)
{
        UInt count = 0;

        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                for (ULong rest = loads_of(pass, id, unread); rest != 0; rest &= rest - 1)
                        count++;
        }
        return count;
}

static void list_late(struct pass *pass, ULong unread, struct late_registers *list)
{
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                const struct depend depends =
                    depend_settled(&pass->depend, pass->depend.of_register[id]);
                for (ULong rest = loads_of(pass, id, unread); rest != 0;
                     rest &= rest - 1) {
                        UInt slot = ir_first_of(rest);
                        pass->used |= 1ULL << slot;
                        list->each[list->count++] = (struct late_register){
                            .slot = (UChar)slot,
                            .id = (UChar)id,
                            .delay = depend_delay_from(depends, slot),
                        };
                }
        }
}

/* Adds a test for late loads, and a call that corrects the ready times. */
static void add_late_loads(struct pass *pass, ULong unread, IRExpr *guard)
{
        const UInt count = count_late(pass, unread);
        struct late_registers *list =
            site_new(pass, sizeof(*list) + count * sizeof(list->each[0]));
        IRDirty *call =
            call_with_constant(pass, "simpmu_late", (void *)call_late, list, NULL);

        list->count = 0;
        list_late(pass, unread, list);
        ir_add_call(pass, call,
                    ir_both(pass,
                            ir_binary(pass, Ity_I1, Iop_CmpNE64,
                                      ir_read_hot(pass, &tool_hot.late), ir_constant(0)),
                            guard));
}

/* Whether a load may have been late and this exit is the last chance to report it.
 * Whether anyone will wait for a load before a side exit is not yet known. */
static Bool loads_may_be_late(const struct pass *pass, ULong unread, Bool side_exit)
{
        return side_exit ? pass->loads > 0
                         : count_late(pass, unread) > 0 ||
                               (pass->used & SLOTS_MASK & ~pass->told) != 0;
}

void ready_add_exit(struct pass *pass, IRExpr *guard, ULong unread)
{
        if (!pass->follow)
                return;
        write_registers(pass, unread);
        if (loads_may_be_late(pass, unread, guard != NULL))
                add_late_loads(pass, unread, guard);
        if (guard == NULL)
                pass->told |= pass->used & SLOTS_MASK;
        wrong_add_transfer(pass);
        depend_restart(&pass->depend, guard == NULL ? 0 : SLOTS_MASK);
        pass->counted_at_exit = pass->counted;
}
