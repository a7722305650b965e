/* SPDX-License-Identifier: MIT */
/* The allocation site in the program: the first function of the allocation's stack
 * that is not part of an allocator. */
#ifndef MEMLAG_SYMBOLIZE_SITE_H
#define MEMLAG_SYMBOLIZE_SITE_H

#include "sweep.h"

struct site {
        uint32_t function; /* names; 0: unknown */
        uint32_t file;
        uint32_t line;
        uint32_t number; /* of the function in code_frames; 0: none */
        uint32_t column; /* 0: unknown */
        uint32_t name;   /* "build_list at chase.c:42" */
};

/* The site that a place's functions give to blocks allocated below it. */
struct place_site {
        bool asked;
        bool found;       /* SITE is in these functions; else it is a substitute */
        struct site site; /* has a name if FOUND */
};

struct site_search {
        const struct sweep *sweep; /* places have been named */
        const struct code_frames *frames;
        struct string_pool *names;
        const char *const *allocators; /* as in struct symbolize_options */
        bool *met;                     /* by allocator: some stack contains it */
        struct place_site *places;     /* of SWEEP's places, not asked at first */
        size_t place_count;
};

/* The site of STACK (an index of raw's stacks, or RAW_NONE). The string pool notes when
 * memory is short. */
struct site site_find(const struct site_search *search, uint32_t stack);

/* The name of SITE with its line and column: "build_list at chase.c:42:17". */
uint32_t site_name_with_column(struct string_pool *names, const struct site *site);

/* Whether PLACE is in the C library or the dynamic linker. */
bool site_in_c_library(const struct sweep *sweep, const struct place *place);

#endif
