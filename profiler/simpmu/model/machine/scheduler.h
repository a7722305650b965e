/* SPDX-License-Identifier: MIT */
/* The scheduler: the entries in which instructions wait for their operands. A core has
 * fewer of them than reorder buffer entries. An instruction takes an entry when it
 * issues, in program order. It leaves the entry when its operands are ready, in any
 * order. If all entries are taken, the instruction and all later ones wait. The model
 * includes the scheduler when branches are followed.
 *
 * Generated code lists the instructions that need an entry, and calls the scheduler
 * when a value is late. Times are slots on the thread's clock. */
#ifndef SIMPMU_MODEL_SCHEDULER_H
#define SIMPMU_MODEL_SCHEDULER_H

#include <stdint.h>

#include "hot.h"

/* The kind of operation decides which scheduler an instruction uses. Where a processor
 * has one scheduler for several kinds, these kinds share the entries of the first
 * kind. */
enum scheduler_kind {
        SCHEDULER_GENERAL,   /* arithmetic of general registers */
        SCHEDULER_VECTOR,    /* of vector registers */
        SCHEDULER_ADDRESSES, /* loads and stores, until their address is known */
        SCHEDULER_KINDS
};

/* Time is cut into parts of several slots, and only parts ahead are stored. A wait
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

/* Sets the entries of each scheduler. 0, for a kind other than the first: the kind
   shares another scheduler. */
void scheduler_init(struct sim_thread *thread, const uint32_t places[SCHEDULER_KINDS]);

/* Instructions that wait for at most this many slots cannot fill the scheduler,
 * because one instruction issues in a slot. Values that come no later need no check
 * while nothing else waits. */
uint64_t scheduler_slack(const struct sim_thread *thread);

/* The entries from FIRST on have issued, the last of them as the current instruction.
 * Adds the stall of instructions that found no entry. */
void scheduler_issue(struct sim_hot *hot, struct sim_thread *thread,
                     const struct scheduled *first);

#endif
