/* SPDX-License-Identifier: MIT */
/* Watches the lines of sampled accesses that brought them to L1. Of each it finds
 * - which bytes the program uses until the line leaves L1 and L2, if the access was the
 *   first since the line came from beyond L2;
 * - how much else the program asks caches beyond L1 for until it asks for this line
 *   again.
 * Every access to a watched line in L1 reaches the model: the filters of hot.h know the
 * line with FILTER_WATCHED. Where the filters would let the access pass without this
 * flag, it changes the used bytes only. Watching therefore changes no time. The used
 * bytes are final after WATCH_IDLE_MAX accesses without another byte: such accesses are
 * slow, and such lines cause little traffic. */
#ifndef SIMPMU_MODEL_WATCH_H
#define SIMPMU_MODEL_WATCH_H

#include "hot.h"
#include "l1d.h"
#include "reuse.h"

struct core;

#define WATCH_IDLE_MAX 256u

/* Facts about a sample's line. USED: a bit of each byte. REUSE: the bytes of the
 * smallest fully associative LRU cache that has kept the line until its next request; 0:
 * it was not requested again. */
enum line_fact { LINE_USED, LINE_REUSE };

/* How an access found its line in L1. */
enum line_fill {
        LINE_WAS_THERE,   /* an access has used it since it came to L1, */
        LINE_FROM_L2,     /* no access has; it came from L2, */
        LINE_FROM_BEYOND, /* and so did it to L2, from beyond */
};

struct watched_line {
        uint64_t line;
        uint64_t used;  /* bytes */
        uint32_t user;  /* the sample whose line's use is not known yet; or 0 */
        uint16_t core;  /* where it is used */
        uint16_t idle;  /* accesses since the last that used another byte */
        uint32_t asker; /* the sample whose reuse is not known yet; or 0 */
        uint32_t stamp; /* of reuse.h, at that sample */
};

struct watch {
        struct reuse reuse;
        struct watched_line *lines; /* a hash table with linear probing */
        uint32_t bits;              /* it has 2^bits places */
        uint32_t count;             /* watched lines */
        /* How many watched lines have a hash that begins so; it stays at 255. */
        uint8_t *begins;
        uint32_t begins_shift;
        uint32_t samples; /* watched so far: the number of the last one */
        void (*on_line)(uint32_t sample, enum line_fact fact, uint64_t value);
        sim_allocate allocate;
};

/* Without ON_LINE nothing is watched. */
void watch_init(struct watch *watch,
                void (*on_line)(uint32_t sample, enum line_fact fact, uint64_t value),
                sim_allocate allocate);

/* CORE's sampled access to the SIZE_BYTES at ADDRESS found its line as FILL says. Returns
 * the sample's number, 0 if its line is not watched, as none is of several lines. */
uint32_t watch_sample(struct watch *watch, struct core *core, uint64_t address,
                      uint32_t size_bytes, enum line_fill fill);

/* The program ends: reports the known facts. */
void watch_finish(struct watch *watch);

/* No sample is watched any more. */
void watch_forget(struct watch *watch);

/* A request for LINE may concern the watch. */
static inline bool watch_concerns(const struct watch *watch, uint64_t line)
{
        const uint64_t hash = reuse_hash(line);

        return (hash < watch->reuse.limit) |
               (watch->begins[hash >> watch->begins_shift] != 0);
}

/* The cold half: LINE has come to way BIT of SET in CORE's L1. */
void watch_fill(struct watch *watch, const struct core *core, uint64_t line,
                struct cache_set *set, uint32_t bit, bool from_beyond);

/* CORE accesses SIZE_BYTES at ADDRESS in a watched line of L1. */
void watch_use(struct watch *watch, const struct core *core, uint64_t address,
               uint32_t size_bytes);

#endif
