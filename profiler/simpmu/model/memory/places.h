/* SPDX-License-Identifier: MIT */
/* Tracks when the entries of a resource are occupied (fill buffers, page walkers,
 * queue entries). Requests arrive in program order, not in time order, because a
 * request may wait long for its address. An entry that is occupied later is free until
 * then. A request takes the first interval in which an entry is free for its whole
 * duration. Earlier answers do not change.
 *
 * The entries are not distinguished. The number of occupied entries at a time is the
 * number of requests that have begun by then and not ended. */
#ifndef SIMPMU_MODEL_PLACES_H
#define SIMPMU_MODEL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#define PLACES_ROOM 8192u /* a power of two */

struct places {
        uint32_t count;
        uint32_t mask;   /* times are stored for mask + 1 requests */
        uint64_t number; /* of requests so far */
        /* A request that has begun within a gap between requests has room until then. */
        uint64_t room_until;
        uint64_t full_from; /* all places are taken from then */
        uint64_t full_until;
        uint64_t begins[PLACES_ROOM]; /* of the last requests, in order; a ring */
        uint64_t ends[PLACES_ROOM];   /* likewise */
};

/* COUNT entries, all free. Up to OUTSTANDING requests may lie ahead of the thread's
 * clock. With more requests, gaps between the earliest requests count as full. */
void places_init(struct places *places, uint32_t count, uint32_t outstanding);

/* All places are free. */
void places_clear(struct places *places);

/* The cold half of the two that follow. */
uint64_t places_wait(struct places *places, uint64_t start, uint64_t least, uint64_t end);

/* When a request that can begin at START gets a place that is free for LEAST. A
 * request that may keep it longer needs places_fit before it is held. */
static inline uint64_t places_find(struct places *places, uint64_t start, uint64_t least)
{
        const uint64_t number = places->number - places->count;

        if (__builtin_expect(places->ends[number & places->mask] <= start, 1))
                return start; /* fewer requests than places end after that */
        return places_wait(places, start, least, 0);
}

/* Extends the last request, which searched from START and found an entry at BEGIN. It
 * needs the entry for LEAST and then waits for something else until END. Returns the
 * time at which it gets an entry that stays free until END. If that is later than
 * BEGIN, the two waits overlap. */
static inline uint64_t places_fit(struct places *places, uint64_t start, uint64_t begin,
                                  uint64_t least, uint64_t end)
{
        if (__builtin_expect(end <= places->room_until, 1))
                return begin;
        return places_wait(places, start, least, end);
}

/* How many places are taken at TIME. */
uint64_t places_taken(const struct places *places, uint64_t time);

/* Fewer than LIMIT are, up to their number. */
static inline bool places_fewer(const struct places *places, uint64_t time,
                                uint32_t limit)
{
        return places->ends[(places->number - limit) & places->mask] <= time ||
               places_taken(places, time) < limit;
}

/* Inserts TIME into the sorted tail of RING, before the entry of request NUMBER. */
static inline void places_insert(uint64_t *ring, uint32_t mask, uint64_t number,
                                 uint64_t time)
{
        uint64_t *place = &ring[number & mask];

        for (uint64_t at = number - 1; at != number - 1 - mask && ring[at & mask] > time;
             at--) {
                *place = ring[at & mask];
                place = &ring[at & mask];
        }
        *place = time;
}

/* A request keeps a place from BEGIN, when it has found one, to END. */
static inline void places_hold(struct places *places, uint64_t begin, uint64_t end)
{
        places_insert(places->begins, places->mask, places->number, begin);
        places_insert(places->ends, places->mask, places->number, end);
        places->number++;
}

#endif
