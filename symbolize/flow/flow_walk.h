/* SPDX-License-Identifier: MIT */
/* Data flow over the function's blocks until nothing changes. Where ways that disagree
 * meet, the value is unknown; so a known value holds on all ways. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_WALK_H
#define MEMLAG_SYMBOLIZE_FLOW_WALK_H

#include "flow_state.h"

struct flow_visit {
        struct flow_state entry; /* before the block */
        bool queued;
};

/* The name of a loaded pointer (0: none), and the number of loads to it. */
struct flow_name {
        uint32_t name;
        uint8_t loads;
        bool known;
};

/* Names that were looked for, and how many instructions may be followed for others. */
struct flow_names {
        uint64_t work_left;
        struct flow_name of_step[];
};

struct flow_walk {
        const struct flow_context *context;
        struct flow_code *code;
        struct flow_visit *visits; /* of each block */
        size_t *queue;
        size_t queue_count;
        size_t entry; /* the block that the function begins with; SIZE_MAX: not known */
        struct flow_names *names;
        struct flow_state **marks; /* before some steps of long blocks; NULL: not known */
};

/* Makes STATE, which holds before STEP, the one that holds after it. */
void flow_effect(const struct flow_context *flow, struct flow_state *state,
                 const struct flow_step *step);

/* Finds the entry states of CODE's blocks; CONTEXT and CODE must outlive WALK. 0, -E2BIG
 * when there are too many ways, -ENOMEM; freed in any case. */
int flow_walk_run(struct flow_walk *walk, const struct flow_context *context,
                  struct flow_code *code);
/* The state before step number STEP of the code. */
struct flow_state flow_walk_before(const struct flow_walk *walk, size_t step);
void flow_walk_free(struct flow_walk *walk);

#endif
