/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which values a value depends on, through one block of VEX IR: masks (model/hot.h) of
 * guest registers as they were at the block's entry, and of the block's loads. */
#ifndef SIMPMU_DEPEND_H
#define SIMPMU_DEPEND_H

#include "libvex_ir.h"
#include "pub_tool_basics.h"

#include "model/hot.h"

#define REGISTERS_END FIRST_SLOT /* registers have ids from FIRST_REGISTER to here */

struct depend_state {
        ULong of_register[REGISTERS_END];
        ULong *of_temporary;
        UInt temporary_count;
        ULong written; /* registers written in the block so far */
};

/* Every register depends on itself; of_temporary has room for the block's. */
void depend_start(struct depend_state *state, ULong *of_temporary, UInt temporary_count);

ULong depend_expression(const struct depend_state *state, const IRExpr *e);

/* The union over the guest state's bytes [OFFSET, OFFSET + SIZE). */
ULong depend_get(const struct depend_state *state, Int offset, Int size);

/* Whether the guest state's byte at OFFSET is part of a register that is followed. */
Bool depend_follows(Int offset);

/* A Put of SIZE bytes. MAYBE: only under a condition, or to a part of the range. */
void depend_put(struct depend_state *state, Int offset, Int size, ULong value,
                Bool maybe);

/* A PutI: any of the registers that are addressed by index (x87). */
void depend_put_indexed(struct depend_state *state, ULong value);

/* A register whose value at this point depends on something else than itself. */
Bool depend_changed(const struct depend_state *state, UInt id);

#endif
