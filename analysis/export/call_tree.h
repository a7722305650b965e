/* SPDX-License-Identifier: MIT */
/* The tree of calls in memory, for formats that write names once, or need callees before
 * their callers. */
#ifndef MEMLAG_CALL_TREE_H
#define MEMLAG_CALL_TREE_H

#include "export.h"

enum { EXPORT_WEIGHTS = EXPORT_SAMPLES + 1 };

struct call_function {
        char *name;   /* printable, like all names here */
        char *module; /* the last part of the module's path */
};

struct call {
        size_t parent; /* an earlier call, or SIZE_MAX */
        size_t depth;
        size_t function;
        int64_t own[EXPORT_WEIGHTS]; /* by enum export_weight; never negative */
};

struct call_tree {
        struct call_function *functions;
        size_t function_count, function_capacity;
        struct call *calls; /* parents before their callees */
        size_t count, capacity;
        bool known[EXPORT_WEIGHTS]; /* weights that the recording has */
};

/* Freed by call_tree_free, also after an error. */
int call_tree_read(struct db *db, struct call_tree *tree, struct diag *diag);
void call_tree_free(struct call_tree *tree);

/* The name of a weight in files: "stalled", "latency" or "samples". */
const char *export_weight_name(enum export_weight weight);

#endif
