/* SPDX-License-Identifier: MIT */
/* The place in the program that asked for a block of memory: the first function of
 * the allocation's stack that is not part of an allocator. */
#ifndef MEMLAG_SYMBOLIZE_SITE_H
#define MEMLAG_SYMBOLIZE_SITE_H

#include "sweep.h"

struct site {
        uint32_t function; /* names; 0: unknown */
        uint32_t file;
        uint32_t line;
        uint32_t name; /* "build_list at chase.c:42" */
};

/* The site of STACK (an index of raw's stacks, or RAW_NONE), from places that have
 * been named. Out of memory shows in NAMES. */
struct site site_find(const struct sweep *sweep, const struct code_frames *frames,
                      struct string_pool *names, uint32_t stack);

#endif
