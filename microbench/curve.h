/* SPDX-License-Identifier: MIT */
/* Reads a machine's structure out of measured curves: the caches out of latency over
 * size, the knee out of latency under load. Pure functions. */
#ifndef MEMLAG_CURVE_H
#define MEMLAG_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct latency_point {
        uint64_t size_bytes;
        double ns;
        double error;
};

/* A range of sizes with about the same latency: a level of the memory. */
struct plateau {
        uint64_t capacity_bytes; /* the largest size that has it */
        double ns, error;        /* of the point that stands for it */
};

/* The plateaus of the COUNT points, sizes ascending, from the fastest to the slowest, at
 * most MAXIMUM; returns how many there are. Latency does not fall with size, so a point
 * that lies above a later one is noise. The last plateau's capacity is the last size. */
size_t curve_plateaus(const struct latency_point *points, size_t count,
                      struct plateau *plateaus, size_t maximum);

/* A plateau is no level of its own when it ends no more than a quarter beyond the level
 * before, of which the system REPORTS COUNT sizes: it is made a part of that. Returns how
 * many of the FOUND plateaus are left. */
size_t curve_merge_plateaus(struct plateau *plateaus, size_t found,
                            const uint64_t *reports, size_t count);

/* Whether SIZE_BYTES are just beyond a level of BEFORE_BYTES: two and a quarter to three
 * times as many. There a loop through all of the data finds nothing of it in that level
 * (at twice the size a seventh of the loads still did in some mappings, on an EPYC of
 * family 26), and what is left of a next level that is shared is most likely to hold it.
 */
bool curve_is_beyond(uint64_t size_bytes, uint64_t before_bytes);

/* Where a level ends changes from time to time on a processor that others use too, but
 * not where the one before it does: gives each of the FOUND plateaus but the first the
 * latency just BEYOND the level before, of which there are FOUND - 1, each with the
 * largest size that it is of (NAN: there is no such size). Without it, or where that size
 * is not in the plateau, this stays as it is. */
void curve_steady_latencies(const struct latency_point *beyond, struct plateau *plateaus,
                            size_t found);

/* A level that the system reports and that has no plateau, as others use it: its latency
 * is that just BEYOND the level before, and its capacity at least that size. False: there
 * is none (NAN), or it is memory's, MEMORY_NS. */
bool curve_hidden_level(const struct latency_point *beyond, double memory_ns,
                        struct plateau *level);

/* Gives each of the FOUND levels, by their latencies, its capacity: the largest size that
 * has no more than half way from there to the next one's latency (NEXT_NS beyond the
 * last; NAN: not known, its capacity stays). A chase comes back to a line after all
 * others; of as many lines as the cache has, on pages anywhere in memory, half are in
 * sets with more of them than ways, which keep none under LRU. Within a level latency may
 * rise before, as the TLB's first level ends (on pages of 4 KiB; in a virtual machine on
 * huge ones too, where the hypervisor has none for it). */
void curve_capacities(const struct latency_point *points, size_t count, double next_ns,
                      struct plateau *levels, size_t found);

/* Whether so many THREADS can have GBS together where one has ONE_GBS: no more than each
 * alone, but for a tenth of noise. */
bool curve_threads_can(uint32_t threads, double gbs, double one_gbs);

/* Whether a page walk can take WALK_NS: its tables, of 64 KiB, fit in L2, so it does not
 * take half as long as a load of memory (NAN: not known). */
bool curve_walk_can(double walk_ns, double memory_ns);

/* How many of the COUNT plateaus are caches: all but the last, which is memory when the
 * sizes REACH it, but for what the system does not know of (it REPORTS so many; 0: it
 * does not tell), and for what takes nearly as long as memory: of such a size only a part
 * is in the last cache. Without memory to compare with, that cache cannot be told. */
size_t curve_cache_levels(const struct plateau *plateaus, size_t count, size_t reports,
                          bool reach);

/* Whether a LEVEL of REPORTED_BYTES (0: the system does not tell) may be memory whose
 * latency only grows with its size, by misses of the TLB: it takes over two fifths of
 * what memory does (MEMORY_NS), and is over half as large again as reported, or the data
 * is on SMALL_PAGES. */
bool curve_may_be_memory(const struct plateau *level, uint64_t reported_bytes,
                         double memory_ns, bool small_pages);

/* What the step to another page costs. */
struct page_point {
        uint64_t pages; /* that are stepped over in turns */
        double ns;      /* added to a load's latency */
};

/* More pages never cost less: what lies above a later one of the COUNT points, pages
 * ascending, is noise, and becomes as low as that. */
void curve_settle_costs(struct page_point *points, size_t count);

/* The pages that the TLB's second level reaches, by the COUNT points, pages ascending, of
 * which FIRST is the first beyond the first level's reach: where the cost is half way, in
 * octaves of pages, from that of a hit to that of a walk. The hit is that an octave above
 * the first level, the walk that of the point after the first whose cost is over twice
 * the hit: farther up it grows with the tables, which leave the caches. The last point's
 * pages where the second level reaches them all. */
double curve_second_reach(const struct page_point *points, size_t count, size_t first);

struct load_point {
        double gbs;         /* of all that is moved */
        double ns;          /* of a chase beside it */
        double lmrl_cycles; /* of that chase, by the PMU; NAN: not measured */
};

/* The bandwidth at which the latency has grown by FACTOR over IDLE_NS, between the points
 * where it does; NAN when it never does. The points are sorted by bandwidth here, and
 * their latencies replaced by those of the nearest curve that never falls. */
double curve_knee_gbs(struct load_point *points, size_t count, double idle_ns,
                      double factor);

/* The chase's LMRL where the bandwidth is GBS, between the points around it; these are
 * sorted by bandwidth, as curve_knee_gbs leaves them. NAN where it was not measured, or
 * GBS is outside. */
double curve_lmrl_at(const struct load_point *points, size_t count, double gbs);

/* The bandwidth of some numbers of threads, from 1 up. The fewest that reach 95 % of the
 * greatest; 0 when each of those added last still gave more than half of what one thread
 * has, so that nothing is saturated. */
struct threads_gbs {
        unsigned threads;
        double gbs;
};
unsigned curve_saturating_threads(const struct threads_gbs *points, size_t count);

#endif
