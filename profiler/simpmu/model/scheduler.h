/* SPDX-License-Identifier: MIT */
/* The scheduler: the places in which instructions wait for their operands, of which a
 * core has fewer than places in its reorder buffer. An instruction takes one as it
 * issues, in the order of the program, and leaves it when its operands are there, in any
 * order, or at once; where all are taken, it and what comes after it waits. Followed
 * where branches are.
 *
 * Generated code lists the instructions that need a place, and has them looked at when a
 * value is late. Times are slots on the thread's clock. */
#ifndef SIMPMU_MODEL_SCHEDULER_H
#define SIMPMU_MODEL_SCHEDULER_H

#include <stdint.h>

#include "hot.h"

/* What an instruction executes decides whose places it takes; processors that have but
 * one scheduler for several kinds have the places of the first for all of these. */
enum scheduler_kind {
        SCHEDULER_GENERAL,   /* arithmetic of general registers */
        SCHEDULER_VECTOR,    /* of vector registers */
        SCHEDULER_ADDRESSES, /* loads and stores, until their address is known */
        SCHEDULER_KINDS
};

/* Time in parts of several slots, of which those ahead are kept: a wait that reaches
 * beyond them counts as if it ended there, some two thousand cycles ahead. */
#define SCHEDULER_PART_SHIFT 3
#define SCHEDULER_PARTS      2048u

struct scheduler {
        uint32_t places;
        uint32_t waiting;
        uint64_t part; /* the first whose instructions have not left yet */
        uint16_t leaving[SCHEDULER_PARTS];
};

/* An instruction that needs a place. */
struct scheduled {
        struct waits operands;
        int32_t position; /* of the instruction, after those counted */
        enum scheduler_kind kind;
        uint32_t longest; /* of the first: slots from a value to an operand of any */
        const struct scheduled *next; /* in the program; NULL: the last */
};

struct sim_thread;

/* Schedulers of so many places each; 0, of a kind but the first: it has none of its own.
 */
void scheduler_init(struct sim_thread *thread, const uint32_t places[SCHEDULER_KINDS]);

/* What waits for no more slots than there are places cannot take all of them, as no more
 * than one issues in a slot: values that come no later than this need not be looked at
 * while nothing else waits. */
uint64_t scheduler_slack(const struct sim_thread *thread);

/* Those from FIRST on have issued, the last of them as one of the instructions counted:
 * adds the stall of what found no place. */
void scheduler_issue(struct sim_hot *hot, struct sim_thread *thread,
                     const struct scheduled *first);

#endif
