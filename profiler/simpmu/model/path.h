/* SPDX-License-Identifier: MIT */
/* A way on which lines follow each other at an interval, and no faster: from one cache to
 * the next. Requests do not come in the order of their times, as one may wait long for
 * its address. So time is cut into stretches, each of which takes as many lines as fit; a
 * line that finds its stretch full goes into the next that is not. */
#ifndef SIMPMU_MODEL_PATH_H
#define SIMPMU_MODEL_PATH_H

#include <stdint.h>

#define PATH_STRETCHES   64u /* a power of two; that many are remembered */
#define PATH_FRACTION    16u /* parts of a slot */
#define PATH_SHORTEST    8u  /* 2^8 slots */
#define PATH_LINES_SHIFT 4u  /* at least 2^4 lines fit into a stretch */

struct path_stretch {
        uint64_t number;
        uint64_t used; /* parts of slots; more than it has go to the next */
};

struct path {
        uint64_t interval; /* parts of slots; 0: lines do not wait */
        uint32_t shift;    /* a stretch has 2^SHIFT slots */
        struct path_stretch stretches[PATH_STRETCHES];
};

static inline void path_init(struct path *path, double interval_slots)
{
        *path = (struct path){
            .interval = (uint64_t)(interval_slots * PATH_FRACTION + 0.5),
            .shift = PATH_SHORTEST,
        };
        while (path->interval << PATH_LINES_SHIFT > (uint64_t)PATH_FRACTION
                                                        << path->shift)
                path->shift++;
}

/* Stretch NUMBER; one that is too long ago to be remembered is taken for empty. */
static inline struct path_stretch *path_stretch_at(struct path *path, uint64_t number)
{
        struct path_stretch *stretch = &path->stretches[number & (PATH_STRETCHES - 1)];

        if (stretch->number != number)
                *stretch = (struct path_stretch){.number = number};
        return stretch;
}

/* A line goes this way, at BEGIN or as soon as there is room for it: returns when. */
static inline uint64_t path_take(struct path *path, uint64_t begin)
{
        const uint64_t room = (uint64_t)PATH_FRACTION << path->shift;

        if (path->interval == 0)
                return begin;
        uint64_t number = begin >> path->shift;
        struct path_stretch *stretch = path_stretch_at(path, number);
        while (stretch->used >= room)
                stretch = path_stretch_at(path, ++number);
        uint64_t free = (number << path->shift) + stretch->used / PATH_FRACTION;
        stretch->used += path->interval;
        if (stretch->used > room)
                path_stretch_at(path, number + 1)->used += stretch->used - room;
        return begin > free ? begin : free;
}

#endif
