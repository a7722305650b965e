/* SPDX-License-Identifier: MIT */
/* Anonymous memory that malloc() and similar functions got from the kernel. Between
 * its blocks lie the allocator's bookkeeping and free blocks. */
#ifndef MEMLAG_SYMBOLIZE_ARENA_H
#define MEMLAG_SYMBOLIZE_ARENA_H

#include "interval_map.h"
#include "raw.h"

struct arenas {
        struct interval_map *of_process; /* raw's */
        size_t process_count;
};

/* Finds the arenas of RAW, by the sampled blocks. 0 or -ENOMEM; freed in any case. */
int arenas_find(struct arenas *arenas, const struct raw *raw);
void arenas_free(struct arenas *arenas);

/* Whether ADDR, in anonymous memory of PROCESS, belongs to an allocator. */
bool arenas_hold(const struct arenas *arenas, uint32_t process, uint64_t addr);

#endif
