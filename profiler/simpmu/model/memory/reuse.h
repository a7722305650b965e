/* SPDX-License-Identifier: MIT */
/* Counts the distinct lines that caches beyond L1 are asked for in a span of requests:
 * the stack distance of Mattson et al. (IBM Systems Journal 9, 1970). Only lines chosen
 * by a hash of their number are followed (SHARDS: Waldspurger et al., FAST 2015). When
 * more than REUSE_LINES_MAX are followed, half are dropped. */
#ifndef SIMPMU_MODEL_REUSE_H
#define SIMPMU_MODEL_REUSE_H

#include "cache.h"

#define REUSE_LINES_MAX  8192u
#define REUSE_STAMPS     (4 * REUSE_LINES_MAX)
#define REUSE_FIRST_RATE 3u /* at first one line of 2^this is followed */

struct reuse_line {
        uint64_t line;
        uint32_t stamp; /* of its last request; 0: an empty place */
};

struct reuse {
        uint64_t limit; /* lines with a hash below it are followed; 0: none is */
        uint32_t rate;  /* one line of 2^rate is followed */
        uint32_t count; /* followed lines */
        uint32_t now;   /* the stamp of the last request */
        struct reuse_line *lines; /* a hash table with linear probing */
        uint32_t *ranks;          /* a Fenwick tree over stamps in use */
        uint32_t *order;          /* of stamps, while they are renumbered */
};

void reuse_init(struct reuse *reuse, sim_allocate allocate);

/* Spreads line numbers evenly over 64 bits: 2^64 / golden ratio. */
static inline uint64_t reuse_hash(uint64_t line)
{
        return line * 0x9e3779b97f4a7c15u;
}

/* The next request needs reuse_renumber first. */
static inline bool reuse_is_full(const struct reuse *reuse)
{
        return reuse->now + 1 == REUSE_STAMPS;
}

/* Makes room for stamps. The caller first replaces each stamp that it holds by
 * reuse_renumbered. */
uint32_t reuse_renumbered(const struct reuse *reuse, uint32_t stamp);
void reuse_renumber(struct reuse *reuse);

/* LINE, which is followed, is requested. */
void reuse_request(struct reuse *reuse, uint64_t line);

/* An estimate of the distinct lines that were requested after STAMP. */
uint64_t reuse_lines_since(const struct reuse *reuse, uint32_t stamp);

#endif
