/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the values that a value depends on, within one block of VEX IR. They are masks
 * (model/hot.h) of guest registers at the block's entry, and of the block's loads. A
 * delay from each value sums the latencies of the instructions between. The stack
 * pointer is always ready, because processors update it separately and early. */
#ifndef SIMPMU_DEPEND_H
#define SIMPMU_DEPEND_H

#include "libvex_ir.h"
#include "pub_tool_basics.h"

#include "model/hot.h"

#define REGISTERS_END FIRST_SLOT /* registers have ids from FIRST_REGISTER to here */
#define SLOTS_MASK    ((2ULL << LAST_SLOT) - (1ULL << FIRST_SLOT)) /* loads' bits */

/* DELAY is the position of the delays in slots, one for each value in ON, in the order
 * of their numbers; 0: no delay from any value. ISSUE_TIME counts from the issue of
 * the block's first instruction. VEX may need several operations for one instruction
 * of a single cycle. OPERATION is the number plus one of a simple instruction's
 * operation. DELAY excludes that operation until another instruction reads the value;
 * 0: there is none. */
struct depend {
        ULong on;
        UInt delay;
        UInt operation;
};

struct depend_state {
        struct depend of_register[REGISTERS_END];
        struct depend *of_temporary;
        UInt temporary_count;
        UInt index;       /* of the current instruction */
        UInt cycle_slots; /* that a simple instruction takes */
        ULong written;    /* registers written since the block began or was restarted */
};

/* Every register depends on itself, or none on anything unless FOLLOW; of_temporary has
 * room for the block's. */
void depend_start(struct depend_state *state, struct depend *of_temporary,
                  UInt temporary_count, UInt cycle_slots, Bool follow);

/* Dependences of E as the current instruction reads it. */
struct depend depend_expression(const struct depend_state *state, const IRExpr *e);

/* A value that both go into. */
struct depend depend_either(struct depend a, struct depend b);

/* The result of the current instruction, which takes SLOTS from VALUE. Its simple
 * operations then take no slots. */
struct depend depend_delayed(const struct depend_state *state, struct depend value,
                             UInt slots);

/* The result of a simple operation of the current instruction on VALUE. */
struct depend depend_operated(const struct depend_state *state, struct depend value);

/* VALUE as later instructions find it. */
struct depend depend_settled(const struct depend_state *state, struct depend value);

/* From value NUMBER, a dependence of VALUE. */
UInt depend_delay_from(struct depend value, UInt number);

/* The union over the guest state's bytes [OFFSET, OFFSET + SIZE). */
struct depend depend_get(const struct depend_state *state, Int offset, Int size);

/* The dependences of all registers. */
struct depend depend_registers(const struct depend_state *state);

/* The bit of the register that the guest state's byte at OFFSET is part of; 0: it is part
 * of none that is followed, or of the stack pointer. */
ULong depend_bit(Int offset);

/* A mask of the registers that the x86-64 ABI lets called functions write. */
ULong depend_changed_by_calls(void);

/* Whether the guest state's byte at OFFSET is part of a register that is followed. */
Bool depend_follows(Int offset);

/* The number of the general register at OFFSET, RAX's being 0; -1: it is none. */
Int depend_general(Int offset);

/* Whether it belongs to a vector register. */
Bool depend_is_vector(Int offset);

/* A Put of SIZE bytes. MAYBE: only under a condition, or to a part of the range. */
void depend_put(struct depend_state *state, Int offset, Int size, struct depend value,
                Bool maybe);

/* A PutI: any of the registers that are addressed by index (x87). */
void depend_put_indexed(struct depend_state *state, struct depend value);

/* The current instruction occupies the unit of slow arithmetic for SLOTS. */
void depend_use_multiplier(struct depend_state *state, UInt slots);

/* The registers (a mask) that, by the x86-64 ABI, code after JUMP writes before it
 * reads them. */
ULong depend_unread_after(IRJumpKind jump);

/* The dependences of the settled VALUE within the mask ON. */
struct depend depend_among(struct depend value, ULong on);

/* VALUE without the delays that are no longer than SLOTS. */
struct depend depend_without_short_delays(struct depend value, UInt slots);

/* From here on each register depends on itself as it is now. Dependences on the loads
 * in the mask KEPT remain. */
void depend_restart(struct depend_state *state, ULong kept);

/* A register whose value at this point depends on something else than itself. */
Bool depend_changed(const struct depend_state *state, UInt id);

#endif
