/* SPDX-License-Identifier: MIT */
/* Addresses for the arrays of a changed layout. Nothing lies there: only the model uses
 * them. Blocks are placed as glibc's malloc places them: small blocks share pages, and
 * the next block of the same size takes the address of a freed one; large blocks have
 * pages of their own. */
#ifndef SIMPMU_MODEL_SHADOW_H
#define SIMPMU_MODEL_SHADOW_H

#include "cache.h"

/* glibc: M_MMAP_THRESHOLD at first, and the size of a chunk's header. */
#define SHADOW_LARGE_BYTES  (128u << 10)
#define SHADOW_HEADER_BYTES 8u
#define SHADOW_GRAIN_BYTES  16u
#define SHADOW_SIZES        (SHADOW_LARGE_BYTES / SHADOW_GRAIN_BYTES + 1)

struct shadow_free {
        struct shadow_free *next;
        uint64_t address;
};

struct shadow {
        uint64_t next_small;
        uint64_t first_large;
        uint64_t next_large;
        uint64_t end;
        struct shadow_free *free[SHADOW_SIZES]; /* by size in grains */
        struct shadow_free *spare;
        sim_allocate allocate;
};

/* The addresses from FIRST on, one half for small blocks and one for large ones, of
 * BYTES in all. Large blocks begin anew where all have been used: by then the first are
 * long freed, or the two count as one. */
void shadow_init(struct shadow *shadow, uint64_t first, uint64_t bytes,
                 sim_allocate allocate);

/* Whether a block has pages of its own, which end with it. */
bool shadow_is_large(uint64_t bytes);

/* An address, aligned to ALIGN, a power of two, for a block of BYTES. */
uint64_t shadow_take(struct shadow *shadow, uint64_t bytes, uint32_t align);
/* The block that SHADOW_TAKE placed at ADDRESS with the same BYTES ends. */
void shadow_give(struct shadow *shadow, uint64_t address, uint64_t bytes, uint32_t align);

/* The address of a static array: behind the one before. */
uint64_t shadow_take_static(struct shadow *shadow, uint64_t bytes, uint32_t align);

#endif
