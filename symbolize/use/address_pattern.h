/* SPDX-License-Identifier: MIT */
/* How the address of a memory access changes in its loop. This decides whether code can
 * compute it some iterations ahead, as a prefetch must. */
#ifndef MEMLAG_SYMBOLIZE_ADDRESS_PATTERN_H
#define MEMLAG_SYMBOLIZE_ADDRESS_PATTERN_H

#include "loop_definitions.h"

enum pattern_kind {
        PATTERN_UNKNOWN,
        PATTERN_NO_LOOP,  /* the access is in no loop of its function */
        PATTERN_FIXED,    /* one address in all iterations */
        PATTERN_STRIDE,   /* a constant distance in each iteration */
        PATTERN_COMPUTED, /* by arithmetic, without a load */
        PATTERN_INDEX,    /* from loaded values; their addresses need no such load */
        PATTERN_CHAIN,    /* from a load whose address needs the previous load */
        PATTERN_BRANCHES, /* different instructions make it on different paths */
        PATTERN_CALL      /* a called function makes it */
};

struct address_pattern {
        enum pattern_kind kind;
        int64_t stride_bytes;  /* of a STRIDE */
        uint32_t instructions; /* the fewest in an iteration; 0: not known */
};

/* The name in the database; NULL: unknown. */
const char *address_pattern_name(enum pattern_kind kind);

/* Finds the pattern of STEP's memory operand. CODE is a function that begins with block
 * ENTRY, the same for all uses of LOOP. 0 or -ENOMEM. */
int address_pattern_find(struct pattern_loop *loop, const struct flow_code *code,
                         size_t entry, size_t step, struct address_pattern *pattern);

#endif
