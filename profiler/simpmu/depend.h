/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which values a value depends on, through one block of VEX IR: masks (model/hot.h) of
 * guest registers as they were at the block's entry, and of the block's loads; and how
 * long slow arithmetic takes from each of them to the value. */
#ifndef SIMPMU_DEPEND_H
#define SIMPMU_DEPEND_H

#include "libvex_ir.h"
#include "pub_tool_basics.h"

#include "model/hot.h"

#define REGISTERS_END FIRST_SLOT /* registers have ids from FIRST_REGISTER to here */

/* DELAY is the number of an array in the state, of slots from each value in ON; 0: from
 * all of them none. From ISSUE_TIME they count from the issue of the block's first
 * instruction. */
struct depend {
        ULong on;
        UInt delay;
};

struct depend_state {
        struct depend of_register[REGISTERS_END];
        struct depend *of_temporary;
        UInt temporary_count;
        ULong written; /* registers written in the block so far */
};

/* Every register depends on itself, or none on anything unless FOLLOW; of_temporary has
 * room for the block's. */
void depend_start(struct depend_state *state, struct depend *of_temporary,
                  UInt temporary_count, Bool follow);

struct depend depend_expression(const struct depend_state *state, const IRExpr *e);

/* A value that both go into. */
struct depend depend_either(struct depend a, struct depend b);

/* What takes SLOTS from VALUE, in the block's instruction number INDEX. */
struct depend depend_delayed(struct depend value, UInt slots, UInt index);

/* From value NUMBER, which is one of those that VALUE depends on. */
UInt depend_delay_from(struct depend value, UInt number);

/* The union over the guest state's bytes [OFFSET, OFFSET + SIZE). */
struct depend depend_get(const struct depend_state *state, Int offset, Int size);

/* Whether the guest state's byte at OFFSET is part of a register that is followed. */
Bool depend_follows(Int offset);

/* A Put of SIZE bytes. MAYBE: only under a condition, or to a part of the range. */
void depend_put(struct depend_state *state, Int offset, Int size, struct depend value,
                Bool maybe);

/* A PutI: any of the registers that are addressed by index (x87). */
void depend_put_indexed(struct depend_state *state, struct depend value);

/* The unit of slow arithmetic is taken for SLOTS by instruction number INDEX. */
void depend_use_multiplier(struct depend_state *state, UInt slots, UInt index);

/* A register whose value at this point depends on something else than itself. */
Bool depend_changed(const struct depend_state *state, UInt id);

#endif
