/* SPDX-License-Identifier: MIT */
/* The cold half of path.h. */
#include "path.h"

void path_init(struct path *path, double interval_slots)
{
        *path = (struct path){
            .interval = (uint64_t)(interval_slots * PATH_FRACTION + 0.5),
            .shift = PATH_SHORTEST,
        };
        while (path->interval << PATH_LINES_SHIFT > (uint64_t)PATH_FRACTION
                                                        << path->shift)
                path->shift++;
        path->room = (uint64_t)PATH_FRACTION << path->shift;
        path->last_place = path->room - path->interval;
}

/* When stretch NUMBER, from START on, takes its next line. A forgotten stretch counts
 * as empty. */
static uint64_t *next_of(struct path *path, uint64_t number, uint64_t start)
{
        uint64_t *next = &path->next[number & (PATH_STRETCHES - 1)];

        if (*next - start > path->room)
                *next = start;
        return next;
}

/* Stretch NUMBER, which ends at END, has EXCESS more than it has room for. */
static void spill(struct path *path, uint64_t number, uint64_t end, uint64_t excess)
{
        uint64_t *next = next_of(path, number + 1, end);
        uint64_t filled = *next + excess;

        *next = filled < end + path->room ? filled : end + path->room;
}

uint64_t path_take_elsewhere(struct path *path, uint64_t begin)
{
        const uint64_t room = path->room;
        uint64_t number = begin >> path->shift;
        uint64_t end = number * room + room;
        uint64_t *next = next_of(path, number, end - room);

        for (; *next == end; end += room)
                next = next_of(path, ++number, end);
        uint64_t free = *next / PATH_FRACTION;
        uint64_t used = *next + path->interval;
        *next = used < end ? used : end;
        if (used > end)
                spill(path, number, end, used - end);
        return begin > free ? begin : free;
}
