/* SPDX-License-Identifier: MIT */
/* Counts a thread's cycles as the events CYCLE_ACTIVITY.* do: cycles in which nothing
 * executes, and the part of these with an outstanding load.
 *
 * The model has no execution units. It knows the slots that instructions take to
 * issue, the extra slots of slow arithmetic (busy), and the times of outstanding
 * misses. Consider a short stretch of T slots: E slots execute and C slots have an
 * outstanding miss. Execution is assumed to fill the slots without a miss first,
 * because an instruction that waits for a miss cannot execute beside it:
 *
 *   no_execute = T - E
 *   stalls     = min(C, T - E)
 *
 * This is exact for independent work beside a miss (C = T: stalls T - E). It is exact
 * for dependent work (C = T - E or less: stalls C). In between it is an upper bound. */
#ifndef SIMPMU_MODEL_ACTIVITY_H
#define SIMPMU_MODEL_ACTIVITY_H

#include <stdint.h>

/* Outstanding loads, by cause. */
enum activity_cause {
        ACTIVITY_L1D, /* a line that missed L1 */
        ACTIVITY_L2,  /* a line that missed L2 */
        ACTIVITY_L3,  /* a line that missed the L3 of its node */
        ACTIVITY_LDM, /* any load, including one whose address is not ready */
        ACTIVITY_CAUSES
};

/* The length of the union of some intervals. Intervals are added in program order. If
 * an interval begins before the end of the last one, only its remainder counts. */
struct cover {
        uint64_t until;
        uint64_t slots;
        uint64_t folded; /* of slots */
};

struct activity {
        struct cover covers[ACTIVITY_CAUSES];
        uint64_t active;   /* slots of the thread's stretches so far */
        uint64_t executed; /* slots in which something executed */
        uint64_t no_execute;
        uint64_t stalls[ACTIVITY_CAUSES]; /* of no_execute */
};

static inline void activity_cover(struct activity *activity, enum activity_cause cause,
                                  uint64_t begin, uint64_t end)
{
        struct cover *cover = &activity->covers[cause];
        uint64_t from = begin > cover->until ? begin : cover->until;
        uint64_t until = end > cover->until ? end : cover->until;

        cover->slots += until - from;
        cover->until = until;
}

/* A stretch ends at NOW. The thread has run for ACTIVE slots and executed in EXECUTED
 * slots, both since its start. */
void activity_fold(struct activity *activity, uint64_t now, uint64_t active,
                   uint64_t executed);

#endif
