/* SPDX-License-Identifier: MIT */
/* Data-flow analysis over the function's blocks until a fixpoint. Where paths that
 * disagree join, the value is unknown; so a known value holds on all paths. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_WALK_H
#define MEMLAG_SYMBOLIZE_FLOW_WALK_H

#include "flow_state.h"

struct flow_visit {
        struct flow_state entry; /* before the block */
        bool queued;
};

/* The name of a loaded pointer (0: none), and the number of loads on the path to it. */
struct flow_name {
        uint32_t name;
        uint8_t loads;
        bool known;
};

/* A cache of names, and the limit on instructions for further ones. */
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
        size_t entry; /* the function's first block; SIZE_MAX: unknown */
        struct flow_names *names;
        struct flow_state **marks; /* before some steps of long blocks; NULL: not known */
};

/* Turns STATE, before STEP, into the state after STEP. */
void flow_effect(const struct flow_context *flow, struct flow_state *state,
                 const struct flow_step *step);

/* Finds the in-states of CODE's blocks; CONTEXT and CODE must outlive WALK. 0, -E2BIG
 * when there are too many paths, -ENOMEM; freed in any case. */
int flow_walk_run(struct flow_walk *walk, const struct flow_context *context,
                  struct flow_code *code);
/* The state before step number STEP of the code. */
struct flow_state flow_walk_before(const struct flow_walk *walk, size_t step);
void flow_walk_free(struct flow_walk *walk);

#endif
