/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic latencies, by the CPU's few classes of operations: a table over VEX's
 * operations. Other operations take a cycle. */
#ifndef SIMPMU_ARITHMETIC_H
#define SIMPMU_ARITHMETIC_H

#include "libvex_ir.h"
#include "pub_tool_basics.h"

#include "protocol.h"

struct arithmetic_cost {
        UInt latency_slots; /* from operands to result; 0: no slow arithmetic */
        UInt unit_slots;    /* that the next of its kind waits for; 0: need not wait */
        UInt port_slots;    /* execution time on one of its ports */
};

/* Of the operation that E is on the CPU of PARAMS, a slot being 1 / SLOTS_PER_CYCLE. */
struct arithmetic_cost arithmetic_cost(const struct simpmu_params *params,
                                       ULong slots_per_cycle, const IRExpr *e);

/* Whether E only hands a value on, whole or in part: no work of an instruction. */
Bool arithmetic_moves(const IRExpr *e);

#endif
