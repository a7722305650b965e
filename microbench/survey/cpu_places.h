/* SPDX-License-Identifier: MIT */
/* Locates the CPUs of a virtual machine. A hypervisor may move them: to cores with a
 * shared cache, to cores without one, or to both threads of one core. Measurements on
 * several CPUs then differ. Each pair of neighbours is compared with its own earlier
 * readings. It is on one core if each CPU slows the other's additions, and a line moves
 * faster than between two cores. It is apart if a line takes much longer than between its
 * nearest two cores. */
#ifndef MEMLAG_CPU_PLACES_H
#define MEMLAG_CPU_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bounce.h"
#include "diag.h"

struct places;

enum place {
        PLACE_TOGETHER, /* sharing a cache, or as close as ever */
        PLACE_ONE_CORE, /* a pair shares a core, but not always */
        PLACE_APART,
        PLACES
};

/* Stands for a missing reading. */
#define PLACES_UNREAD SIZE_MAX

/* For COUNT > 0 CPUS, which must outlive the result. NULL without memory. */
struct places *places_new(const int *cpus, size_t count);
void places_free(struct places *places);

/* Measures the first COUNT > 1 CPUs; READING gets the reading's number. */
int places_read(struct places *places, size_t count, size_t *reading, struct diag *diag);

/* Adds a reading at time SECONDS: BOUNCES of the first COUNT pairs. Returns its number;
 * PLACES_UNREAD without memory. */
size_t places_add(struct places *places, double seconds, const struct bounce *bounces,
                  size_t count);

/* The place of the CPUs in READING, judged by all readings so far. Apart if any pair was
 * apart, otherwise on one core if any pair was. PLACES_UNREAD counts as together. */
enum place places_of(const struct places *places, size_t reading);

/* A pair: a CPU and the next one. */
struct places_pair {
        int cpu, next;
        double nearest_ns;  /* round trip between two cores; NAN: not measured */
        double apart_ns;    /* median while apart; NAN: never apart */
        double one_core_ns; /* median on one core, if not always; NAN: never */
        double apart_share, one_core_share; /* shares of time, 0 to 1 */
        bool always_one_core; /* in every reading: nearest_ns then refers to one core */
};

/* Whether a round trip of NS is too long for CPUs that share a cache with a load latency
 * of CACHE_NS. A round trip needs two transfers, each shorter than four loads. */
bool places_far(double ns, double cache_ns);

/* The load latency of the third-level cache: THIRD_NS, if its relative THIRD_ERROR is at
 * most a quarter. Otherwise at most five times SECOND_NS, the latency of the previous
 * cache. SECOND_NS may come from a single visit. A disturbance makes it longer, and the
 * CPUs then seem closer. NAN: neither is known. */
double places_cache_ns(double third_ns, double third_error, double second_ns);

/* Whether PAIR never shared the cache that the system reports, with a load latency of
 * CACHE_NS. */
bool places_stay_far(const struct places_pair *pair, double cache_ns);

size_t places_pairs(const struct places *places);
struct places_pair places_pair(const struct places *places, size_t pair);

#endif
