/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which values a value depends on, through one block of VEX IR: a mask of guest
 * registers as they were at the block's entry, and a mask of the block's loads. */
#ifndef SIMPMU_DEPEND_H
#define SIMPMU_DEPEND_H

#include "libvex_ir.h"
#include "pub_tool_basics.h"

#include "model/hot.h"

/* Registers' bits in a mask lie above every offset in a line, so that a mask can be
 * compared together with such an offset. */
#define FIRST_REGISTER_ID 8
_Static_assert((1u << FIRST_REGISTER_ID) > LINE_BYTES, "a register's bit is no offset");

struct dependence {
        ULong registers;
        ULong slots;
};

struct depend_state {
        struct dependence of_register[REGISTER_IDS];
        struct dependence *of_temporary;
        UInt temporary_count;
        ULong written; /* registers written in the block so far */
};

static inline struct dependence depend_union(struct dependence a, struct dependence b)
{
        return (struct dependence){a.registers | b.registers, a.slots | b.slots};
}

static inline Bool depend_none(struct dependence a)
{
        return (a.registers | a.slots) == 0;
}

/* Every register depends on itself; of_temporary has room for the block's. */
void depend_start(struct depend_state *state, struct dependence *of_temporary,
                  UInt temporary_count);

struct dependence depend_expression(const struct depend_state *state, const IRExpr *e);

/* The union over the guest state's bytes [OFFSET, OFFSET + SIZE). */
struct dependence depend_get(const struct depend_state *state, Int offset, Int size);

/* A Put of SIZE bytes. MAYBE: only under a condition, or to a part of the range. */
void depend_put(struct depend_state *state, Int offset, Int size, struct dependence value,
                Bool maybe);

/* A PutI: any of the registers that are addressed by index (x87). */
void depend_put_indexed(struct depend_state *state, struct dependence value);

/* A register whose value at this point depends on something else than itself. */
Bool depend_changed(const struct depend_state *state, UInt id);

#endif
