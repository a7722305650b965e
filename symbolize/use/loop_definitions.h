/* SPDX-License-Identifier: MIT */
/* Finds the innermost natural loop around an instruction (Aho, Lam, Sethi, Ullman,
 * "Compilers", 9.6.6). Then finds the instructions of the loop that define a register
 * (reaching definitions). Memory at an address that the loop does not change counts as a
 * register: unoptimised code keeps its variables there. */
#ifndef MEMLAG_SYMBOLIZE_LOOP_DEFINITIONS_H
#define MEMLAG_SYMBOLIZE_LOOP_DEFINITIONS_H

#include "instruction_values.h"

struct loop_body {
        const struct flow_code *code;
        size_t header;  /* each iteration's first block; SIZE_MAX: no loop */
        size_t *blocks; /* in order of address */
        size_t block_count;
        bool *inside; /* of each block of the code */
};

/* The most recent loop, as a cache. Zero-initialised: empty. */
struct pattern_loop {
        bool known;
        size_t block;
        struct loop_body body;
        struct instruction_values *values; /* of the steps of the body, in order; NULL: no
                                              loop, or too large */
        size_t *first;                     /* of each block of the code, in VALUES */
        uint64_t written;                  /* registers */
        uint32_t shortest; /* instructions of a cycle through BLOCK; 0: unknown */
        uint64_t work;     /* in the whole function */
};

/* Makes LOOP the innermost loop around BLOCK of CODE, a function that begins with block
 * ENTRY. 0, -E2BIG if that takes too long, or -ENOMEM; freed by pattern_loop_free. */
int pattern_loop_enter(struct pattern_loop *loop, const struct flow_code *code,
                       size_t entry, size_t block);
void pattern_loop_free(struct pattern_loop *loop);

/* The values of STEP, which is in LOOP. */
const struct instruction_values *loop_values_at(const struct pattern_loop *loop,
                                                size_t step);

/* Whether STEP accesses memory at an address that the loop does not change. */
bool loop_is_slot(const struct pattern_loop *loop, size_t step);

/* The subject of a definition: a register, or the memory operand of STEP. */
struct loop_subject {
        uint8_t value;
        size_t step;
};

/* The instructions of the loop that define a subject, in the same iteration as the use,
 * or in the previous one. */
struct loop_definitions {
        size_t step; /* SIZE_MAX: none */
        bool before; /* in the previous iteration */
        bool mixed;  /* several, or on some paths only */
};

struct loop_search {
        struct pattern_loop *loop;
        size_t *blocks; /* still to search */
        size_t count;
        bool *seen; /* blocks */
        struct loop_subject subject;
        bool reached_top;
        uint64_t work_left; /* limit on instructions */
};

/* Begins a search in LOOP, which has values, in at most WORK instructions. 0 or -ENOMEM;
 * loop_search_end in any case. */
int loop_search_begin(struct loop_search *search, struct pattern_loop *loop,
                      uint64_t work);
void loop_search_end(struct loop_search *search);

/* Finds the definitions of SUBJECT that reach STEP. */
struct loop_definitions loop_definitions_of(struct loop_search *search,
                                            struct loop_subject subject, size_t step);

#endif
