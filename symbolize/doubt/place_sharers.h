/* SPDX-License-Identifier: MIT */
/* The variables of a function's blocks that lie in the same memory of the frame, and
 * which instructions touch them. */
#ifndef MEMLAG_SYMBOLIZE_PLACE_SHARERS_H
#define MEMLAG_SYMBOLIZE_PLACE_SHARERS_H

#include "flow_walk.h"

enum { SHARERS_LIMIT = 64 };

enum { SHARER_INSIDE = 1, SHARER_TOUCHED = 2 };

/* A variable that lies where another one does, too. */
struct sharer {
        size_t first; /* in variables.frames: its ranges */
        size_t count;
        uint8_t *steps; /* SHARER_INSIDE its blocks, where it is SHARER_TOUCHED */
        bool touched;   /* in its own code, or earlier */
        bool leads;     /* this, to code of another that may be merged */
};

struct place_sharers {
        const struct flow_walk *walk;
        struct variables *variables;
        struct sharer items[SHARERS_LIMIT];
        size_t count;       /* may be more than there is room for */
        size_t range_count; /* of the variables, before any are added */
};

/* Finds the sharing variables among VARIABLES of WALK's function. 0 or -ENOMEM; freed in
 * any case. */
int place_sharers_find(struct place_sharers *sharers);
/* Where there are no more than there is room for: marks their steps. 0 or -ENOMEM. */
int place_sharers_mark(struct place_sharers *sharers);
/* Has none of all that share their places told. 0 or -ENOMEM. */
int place_sharers_leave_open(struct place_sharers *sharers);
void place_sharers_free(struct place_sharers *sharers);

/* The first range of SHARER. */
const struct frame_variable *place_sharer_variable(const struct place_sharers *sharers,
                                                   const struct sharer *sharer);
/* Whether the places of A and B have bytes in common. */
bool place_sharers_overlap(const struct place_sharers *sharers,
                           const struct frame_variable *a,
                           const struct frame_variable *b);

#endif
