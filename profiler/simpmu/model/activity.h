/* SPDX-License-Identifier: MIT */
/* What a thread's cycles are spent on, as the events CYCLE_ACTIVITY.* tell: cycles in
 * which nothing executes, and of these the ones with a load outstanding.
 *
 * The model has no execution units. It knows how many slots instructions take to issue
 * (and slow arithmetic to execute beyond that, busy), and when misses are under way. In
 * a short stretch of T slots of which E execute and C have a miss under way, execution
 * is taken to fill the slots without a miss first: what waits for a miss cannot execute
 * beside it. So
 *
 *   no_execute = T - E
 *   stalls     = min(C, T - E)
 *
 * which is right for independent work beside a miss (C = T: stalls T - E) and for work
 * that depends on it (C = T - E or less: stalls C), and an upper bound in between. */
#ifndef SIMPMU_MODEL_ACTIVITY_H
#define SIMPMU_MODEL_ACTIVITY_H

#include <stdint.h>

/* Loads that are under way, by what they wait for. */
enum activity_cause {
        ACTIVITY_L1D, /* a line that missed L1 */
        ACTIVITY_L2,  /* a line that missed L2 */
        ACTIVITY_L3,  /* a line that missed the L3 of its node */
        ACTIVITY_LDM, /* any load, also one that waits for its address */
        ACTIVITY_CAUSES
};

/* How long at least one of some intervals lasted. They are told in the order of the
 * program: of one that began before the last one's end, only what comes after counts. */
struct cover {
        uint64_t until;
        uint64_t slots;
        uint64_t folded; /* of slots */
};

struct activity {
        struct cover covers[ACTIVITY_CAUSES];
        uint64_t active;   /* slots of the thread's stretches so far */
        uint64_t executed; /* of these, slots in which something executed */
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

/* A stretch ends: the thread's clock stands at NOW, it has run for ACTIVE slots and
 * executed in EXECUTED of them, both since its start. */
void activity_fold(struct activity *activity, uint64_t now, uint64_t active,
                   uint64_t executed);

#endif
