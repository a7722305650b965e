/* SPDX-License-Identifier: MIT */
/* The innermost natural loop around an instruction (Aho, Lam, Sethi, Ullman, "Compilers",
 * 9.6.6). Knows blocks, and no effect of instructions. */
#ifndef MEMLAG_SYMBOLIZE_LOOP_BODY_H
#define MEMLAG_SYMBOLIZE_LOOP_BODY_H

#include "flow_code.h"

struct loop_body {
        const struct flow_code *code;
        size_t header;  /* the block that all iterations begin with; SIZE_MAX: no loop */
        size_t *blocks; /* in order of address */
        size_t block_count;
        bool *inside; /* of each block of the code */
};

/* About how often the search for a loop goes over all blocks. */
enum { LOOP_BODY_WORK = 64 };

/* Finds the innermost loop around BLOCK of CODE, a function that begins with block ENTRY.
 * 0, -E2BIG: that would take too long, or -ENOMEM; freed in any case. */
int loop_body_find(struct loop_body *body, const struct flow_code *code, size_t entry,
                   size_t block);
void loop_body_free(struct loop_body *body);

/* The fewest instructions from block FROM of BODY round to it. 0: every path calls a
 * function, or has too many instructions. */
uint32_t loop_body_shortest(const struct loop_body *body, size_t from);

#endif
