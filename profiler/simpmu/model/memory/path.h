/* SPDX-License-Identifier: MIT */
/* A path from one cache to the next: lines follow each other at a minimum interval.
 * Requests do not come in time order, because a request may wait long for its address.
 * Therefore time is cut into stretches of limited capacity. A line that finds its
 * stretch full goes into the next stretch with room. */
#ifndef SIMPMU_MODEL_PATH_H
#define SIMPMU_MODEL_PATH_H

#include <stdint.h>

#define PATH_STRETCHES   64u /* a power of two; that many are remembered */
#define PATH_FRACTION    16u /* parts of a slot */
#define PATH_SHORTEST    8u  /* 2^8 slots */
#define PATH_LINES_SHIFT 4u  /* at least 2^4 lines fit into a stretch */

struct path {
        uint64_t interval;   /* parts of slots; 0: lines do not wait */
        uint32_t shift;      /* a stretch has 2^SHIFT slots */
        uint64_t room;       /* so much it has in parts of slots, */
        uint64_t last_place; /* and so far from its start a line still fits into it */
        /* For each stretch, in parts of slots: when it takes its next line. A value at
         * the stretch's end: it is full. A value outside the stretch belongs to
         * another stretch. */
        uint64_t next[PATH_STRETCHES];
};

void path_init(struct path *path, double interval_slots);

/* The cold half of path_take: the stretch of BEGIN is a new one or cannot take all of the
 * line. */
uint64_t path_take_elsewhere(struct path *path, uint64_t begin);

/* A line takes this path, at BEGIN or as soon as there is room: returns when. */
static inline uint64_t path_take(struct path *path, uint64_t begin)
{
        uint64_t number = begin >> path->shift;
        uint64_t *next = &path->next[number & (PATH_STRETCHES - 1)];
        uint64_t at = *next;

        if (__builtin_expect(at - number * path->room > path->last_place, 0))
                return path_take_elsewhere(path, begin);
        *next = at + path->interval;
        at /= PATH_FRACTION;
        return begin > at ? begin : at;
}

#endif
