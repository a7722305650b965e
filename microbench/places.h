/* SPDX-License-Identifier: MIT */
/* Where the CPUs of a virtual machine are. A hypervisor may move them, now to cores that
 * share a cache, now to ones that do not, and now to the two threads of one core; what
 * several of them do together differs. Each pair of neighbours is compared with itself:
 * the two are on one core while each hinders the other's additions, and a line takes
 * less time between them than it does between two cores at their nearest; they are apart
 * while a cache line takes much longer between them than it does between two cores at
 * their nearest. */
#ifndef MEMLAG_PLACES_H
#define MEMLAG_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bounce.h"
#include "diag.h"

struct places;

enum place {
        PLACE_TOGETHER, /* on cores that share a cache, as far as these CPUs ever do */
        PLACE_ONE_CORE, /* two of them, and at other times on two cores */
        PLACE_APART,
        PLACES
};

/* The number of no reading. */
#define PLACES_UNREAD SIZE_MAX

/* Of COUNT > 0 CPUs, which must outlive it. NULL: no memory. */
struct places *places_new(const int *cpus, size_t count);
void places_free(struct places *places);

/* Reads where the first COUNT > 1 of the CPUs are; READING is its number. */
int places_read(struct places *places, size_t count, size_t *reading, struct diag *diag);

/* Adds a reading of SECONDS, by the clock: BOUNCES of the first COUNT pairs. Returns its
 * number; PLACES_UNREAD: no memory. */
size_t places_add(struct places *places, double seconds, const struct bounce *bounces,
                  size_t count);

/* Where the CPUs were in READING, by all that has been read until now: apart if any of
 * the pairs was, else on one core if any was; together in PLACES_UNREAD. */
enum place places_of(const struct places *places, size_t reading);

/* A pair: CPU and the next one. */
struct places_pair {
        int cpu, next;
        double nearest_ns;  /* round trip between two cores; NAN: never read */
        double apart_ns;    /* the median while apart; NAN: never apart */
        double one_core_ns; /* the median on one core, of a pair that was on two too;
                               NAN: never */
        double apart_share, one_core_share; /* of the time between readings, 0 to 1 */
        bool always_one_core; /* whenever that was read: then nearest_ns is of one core */
};

/* Whether a round trip of NS is too long for CPUs that share a cache whose loads take
 * CACHE_NS: it needs two transfers, and each less than four such loads. */
bool places_far(double ns, double cache_ns);

/* What loads of the third-level cache take: THIRD_NS, and where that is not known to a
 * quarter (THIRD_ERROR is its relative error, NAN that or the latency where unknown), at
 * most five times the SECOND_NS of the cache before it. That may come of a single visit:
 * what disturbs one makes it longer, and so CPUs less far. NAN: neither is known. */
double places_cache_ns(double third_ns, double third_error, double second_ns);

size_t places_pairs(const struct places *places);
struct places_pair places_pair(const struct places *places, size_t pair);

#endif
