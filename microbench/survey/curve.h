/* SPDX-License-Identifier: MIT */
/* Derives a machine's structure from measured curves: caches from latency over size, the
 * knee from latency under load. Pure functions. */
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

/* A range of sizes with similar latency: a memory level. */
struct plateau {
        uint64_t capacity_bytes; /* its largest size */
        double ns, error;        /* of the representative point */
};

/* Finds at most MAXIMUM plateaus, from the fastest to the slowest, in COUNT points with
 * ascending sizes; returns their number. Latency does not fall with size: a point above a
 * later one is noise. The last plateau's capacity is the last size. */
size_t curve_plateaus(const struct latency_point *points, size_t count,
                      struct plateau *plateaus, size_t maximum);

/* Merges a plateau into the previous level if it ends at most a quarter beyond that
 * level's size. The system REPORTS COUNT sizes. Returns the number of remaining plateaus.
 */
size_t curve_merge_plateaus(struct plateau *plateaus, size_t found,
                            const uint64_t *reports, size_t count);

/* Whether SIZE_BYTES is just beyond a level of BEFORE_BYTES: two and a quarter to three
 * times its size. A loop through such data no longer hits that level. A shared next level
 * most likely still holds the data. */
bool curve_is_beyond(uint64_t size_bytes, uint64_t before_bytes);

/* On a shared processor, the end of a level changes with time, but the end of the
 * previous level does not. Therefore this function sets the latency of each of the FOUND
 * plateaus but the first to the latency just BEYOND the previous level. BEYOND has FOUND
 * - 1 points with their largest sizes (NAN: no such size). Without a point in the
 * plateau, its latency stays unchanged. */
void curve_steady_latencies(const struct latency_point *beyond, struct plateau *plateaus,
                            size_t found);

/* A reported level without a plateau, because others use it: takes its latency from the
 * point just BEYOND the previous level, and at least that capacity. Returns false if the
 * point is NAN or has the latency of memory, MEMORY_NS. */
bool curve_hidden_level(const struct latency_point *beyond, double memory_ns,
                        struct plateau *level);

/* Sets the capacity of each of the FOUND levels: the largest size, interpolated, with a
 * latency at most half way to the next level's (NEXT_NS after the last level; NAN: not
 * known, the capacity stays unchanged). Reason: a chase returns to a line after all
 * others. With as many lines as the cache, at random addresses, half of the lines are in
 * sets with more lines than ways; LRU then retains none. Within a level, latency may rise
 * earlier, when the first TLB level ends (small pages, or huge pages that the hypervisor
 * lacks). */
void curve_capacities(const struct latency_point *points, size_t count, double next_ns,
                      struct plateau *levels, size_t found);

/* Whether THREADS threads can reach GBS if one reaches ONE_GBS: at most proportional,
 * plus a tenth for noise. */
bool curve_threads_can(uint32_t threads, double gbs, double one_gbs);

/* Whether a page walk can take WALK_NS. Its tables, of 64 KiB, fit in L2: it takes less
 * than half of a memory load (NAN: not known). */
bool curve_walk_can(double walk_ns, double memory_ns);

/* The number of caches among COUNT plateaus. The last plateau is memory if the sizes
 * REACH it. Plateaus beyond the number of REPORTS (0: none reported) are no caches, nor
 * are plateaus with almost memory's latency. Without memory for comparison, the last
 * cache cannot be identified. */
size_t curve_cache_levels(const struct plateau *plateaus, size_t count, size_t reports,
                          bool reach);

/* Whether a LEVEL of REPORTED_BYTES (0: not reported) may be memory with a latency that
 * grows by TLB misses. Its latency is over two fifths of MEMORY_NS. It is also half as
 * large again as reported, or on SMALL_PAGES. */
bool curve_may_be_memory(const struct plateau *level, uint64_t reported_bytes,
                         double memory_ns, bool small_pages);

/* The cost of a step to another page. */
struct page_point {
        uint64_t pages; /* visited in turn */
        double ns;      /* added to the latency of a load */
};

/* More pages never cost less: a point above a later one of the COUNT points (pages
 * ascending) is noise, and is lowered. */
void curve_settle_costs(struct page_point *points, size_t count);

/* The reach of the second TLB level in pages, from COUNT points with ascending pages.
 * FIRST is the first point beyond the first level. The reach is half way, in octaves of
 * pages, from the cost of a hit to the cost of a walk. The hit is an octave above the
 * first level. The walk is the point after the first with over twice the hit's cost:
 * later points grow because tables leave the caches. Returns the last point's pages if
 * the second level reaches all. */
double curve_second_reach(const struct page_point *points, size_t count, size_t first);

struct load_point {
        double gbs;         /* all traffic */
        double ns;          /* latency of the chase beside it */
        double lmrl_cycles; /* of the chase, by the PMU; NAN: not measured */
};

/* The bandwidth at which latency reaches FACTOR times IDLE_NS, interpolated; NAN if it
 * never does. Sorts the points by bandwidth, and replaces their latencies by the nearest
 * curve that never falls. */
double curve_knee_gbs(struct load_point *points, size_t count, double idle_ns,
                      double factor);

/* The chase's LMRL at bandwidth GBS, interpolated. The points are sorted by bandwidth,
 * see curve_knee_gbs. NAN if not measured, or outside the points. */
double curve_lmrl_at(const struct load_point *points, size_t count, double gbs);

/* Bandwidth by number of threads, from 1. curve_saturating_threads: the fewest threads
 * with PART of the maximum. 0 if each added thread still gains more than half of a single
 * thread's bandwidth: nothing is saturated. */
struct threads_gbs {
        unsigned threads;
        double gbs;
};
unsigned curve_saturating_threads(const struct threads_gbs *points, size_t count,
                                  double part);

#endif
