/* SPDX-License-Identifier: MIT */
/* The parts of a survey that are about latency: clocks, caches, TLB, memory. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "curve.h"
#include "survey.h"

enum {
        POINTS_PER_OCTAVE = 4,
        SMALL_PAGE_BYTES = 4096,
        PLATEAUS_MAX = 8,
        GROUP_MAX = 64, /* chases that take turns */
        VISITS = 3,     /* of each, at least; more of what is measured alone */
        VISITS_ALONE = 10
};

static json_t *no_memory(struct diag *diag)
{
        diag_no_memory(diag);
        return NULL;
}

/* ---- clocks --------------------------------------------------------------------------
 */

/* COUNT additions, each of which needs the one before: a cycle each on every x86-64. */
static void add_in_chain(uint64_t count)
{
        uint64_t sum = 0;
        __asm__ volatile("1:\n\t"
                         ".rept 100\n\t"
                         "add $1, %[sum]\n\t"
                         ".endr\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : [sum] "+r"(sum), [n] "+r"(count)
                         :
                         : "cc");
}

json_t *survey_clocks(struct survey *survey, struct diag *diag)
{
        enum { ROUNDS = 64, REPEATS = 20000 };
        double core_ns[ROUNDS], tsc_ns[ROUNDS];
        survey_progress(survey, "clocks");
        for (size_t i = 0; i < ROUNDS; i++) {
                double seconds = clock_seconds();
                uint64_t tsc = clock_tsc();
                add_in_chain(REPEATS);
                uint64_t ticks = clock_tsc() - tsc;
                seconds = clock_seconds() - seconds;
                core_ns[i] = seconds * 1e9 / (REPEATS * 100.0);
                tsc_ns[i] = seconds * 1e9 / (double)ticks;
        }
        struct estimate core = estimate_of(core_ns, ROUNDS);
        struct estimate tsc = estimate_of(tsc_ns, ROUNDS);
        survey->core_ghz = 1 / core.value;
        json_t *clocks =
            json_pack("{s:f, s:f, s:f}", "tsc_ghz", 1 / tsc.value, "core_ghz",
                      survey->core_ghz, "error", estimate_error(&core));
        return clocks ? clocks : no_memory(diag);
}

/* ---- caches ---- */

static json_t *point_json(const char *key, uint64_t value,
                          const struct estimate *estimate)
{
        return json_pack("{s:I, s:f, s:f}", key, (json_int_t)value, "ns", estimate->value,
                         "error", estimate_error(estimate));
}

static uint64_t size_of_point(size_t index)
{
        double size = 4096 * exp2((double)index / POINTS_PER_OCTAVE);
        return (uint64_t)(size / 512 + 0.5) * 512;
}

static void close_chases(struct chase *chases, size_t count)
{
        for (size_t i = 0; i < count; i++)
                chase_close(&chases[i]);
}

/* COUNT sizes from the one of point FIRST on. */
static int measure_group(struct survey *survey, size_t first, size_t count,
                         struct latency_point *points, json_t *curve, struct diag *diag)
{
        struct chase chases[GROUP_MAX];
        struct estimate estimates[GROUP_MAX];
        size_t opened = 0;
        int rc = 0;
        survey_progress(survey, "latency of %llu KiB",
                        (unsigned long long)(size_of_point(first) >> 10));
        while (rc == 0 && opened < count) {
                rc = chase_open(size_of_point(first + opened), KERNEL_LINE_BYTES,
                                PAGES_HUGE, -1, &chases[opened], diag);
                opened += rc == 0;
        }
        if (rc == 0)
                rc = survey_chases(survey, chases, count, VISITS, estimates, diag);
        close_chases(chases, opened);
        for (size_t i = 0; rc == 0 && i < count; i++) {
                uint64_t size = size_of_point(first + i);
                points[i] = (struct latency_point){size, estimates[i].value,
                                                   estimate_error(&estimates[i])};
                if (json_array_append_new(
                        curve, point_json("size_bytes", size, &estimates[i])) != 0)
                        rc = diag_no_memory(diag);
        }
        return rc;
}

/* Fills POINTS, with room for all sizes, and the JSON list CURVE. As many sizes are
 * measured in turns as take no more room than twice the largest. */
static int measure_sizes(struct survey *survey, struct latency_point *points,
                         size_t count, json_t *curve, struct diag *diag)
{
        for (size_t first = 0, end; first < count; first = end) {
                uint64_t bytes = 0;
                for (end = first; end < count && end - first < GROUP_MAX; end++) {
                        bytes += buffer_footprint(size_of_point(end), PAGES_HUGE);
                        if (end > first && bytes > 2 * survey->data_bytes)
                                break;
                }
                int rc = measure_group(survey, first, end - first, &points[first], curve,
                                       diag);
                if (rc < 0)
                        return rc;
        }
        return 0;
}

/* The levels are the plateaus without the last, which is memory. */
static json_t *levels_json(struct survey *survey, const struct latency_point *points,
                           size_t count)
{
        struct plateau plateaus[PLATEAUS_MAX];
        size_t found = curve_plateaus(points, count, plateaus, PLATEAUS_MAX);
        json_t *levels = json_array();
        for (size_t i = 0; levels && i + 1 < found; i++) {
                unsigned level = (unsigned)i + 1;
                survey_noise(survey, plateaus[i].error);
                json_array_append_new(
                    levels,
                    json_pack("{s:i, s:I, s:I, s:i, s:f, s:f, s:f}", "level", level,
                              "size_bytes", (json_int_t)plateaus[i].capacity_bytes,
                              "reported_bytes", (json_int_t)reported_cache_bytes(level),
                              "reported_ways", (int)reported_cache_ways(level),
                              "latency_ns", plateaus[i].ns, "latency_cycles",
                              plateaus[i].ns * survey->core_ghz, "error",
                              plateaus[i].error));
        }
        return levels;
}

json_t *survey_caches(struct survey *survey, struct diag *diag)
{
        size_t count = 1;
        while (size_of_point(count) <= survey->data_bytes)
                count++;
        struct latency_point *points = calloc(count, sizeof(*points));
        json_t *curve = json_array();
        int rc = points && curve ? measure_sizes(survey, points, count, curve, diag)
                                 : diag_no_memory(diag);
        json_t *caches = NULL;
        if (rc == 0) {
                caches = json_pack("{s:O, s:o}", "curve", curve, "levels",
                                   levels_json(survey, points, count));
                if (!caches)
                        no_memory(diag);
        }
        json_decref(curve);
        free(points);
        return caches;
}

/* ---- TLB ---- */

enum { TLB_FIRST = 16, TLB_OCTAVES = 9, TLB_POINTS = 2 * TLB_OCTAVES + 1 };

/* Opens the chases of PAGES: one steps from page to page, the other one through as many
 * lines side by side. */
static int open_pages(uint64_t pages, struct chase *chases, struct diag *diag)
{
        int rc = chase_open(pages * (SMALL_PAGE_BYTES + KERNEL_LINE_BYTES),
                            SMALL_PAGE_BYTES + KERNEL_LINE_BYTES, PAGES_SMALL, -1,
                            &chases[0], diag);
        if (rc < 0)
                return rc;
        rc = chase_open(pages * KERNEL_LINE_BYTES, KERNEL_LINE_BYTES, PAGES_HUGE, -1,
                        &chases[1], diag);
        if (rc < 0)
                chase_close(&chases[0]);
        return rc;
}

static uint64_t pages_of_point(size_t index)
{
        return (uint64_t)(TLB_FIRST * exp2((double)index / 2) + 0.5);
}

/* How many points there is memory for. */
static size_t tlb_points(const struct survey *survey)
{
        uint64_t bytes = 0;
        size_t count = 0;
        for (; count < TLB_POINTS; count++) {
                uint64_t pages = pages_of_point(count);
                bytes += buffer_footprint(pages * KERNEL_LINE_BYTES, PAGES_HUGE) +
                         pages * (SMALL_PAGE_BYTES + KERNEL_LINE_BYTES);
                if (bytes > survey->memory_bytes / 2)
                        break;
        }
        return count;
}

/* What the step to another page adds to the latency, for each number of pages. */
static int measure_pages(struct survey *survey, struct latency_point *points,
                         size_t count, json_t *curve, struct diag *diag)
{
        struct chase chases[2 * TLB_POINTS];
        struct estimate estimates[2 * TLB_POINTS];
        size_t opened = 0;
        int rc = 0;
        survey_progress(survey, "TLB");
        for (; rc == 0 && opened < count; opened += rc == 0)
                rc = open_pages(pages_of_point(opened), &chases[2 * opened], diag);
        if (rc == 0)
                rc = survey_chases(survey, chases, 2 * count, VISITS, estimates, diag);
        close_chases(chases, 2 * opened);
        for (size_t i = 0; rc == 0 && i < count; i++) {
                double added_ns = estimates[2 * i].value - estimates[2 * i + 1].value;
                points[i] = (struct latency_point){.size_bytes = pages_of_point(i),
                                                   .ns = added_ns};
                json_array_append_new(curve, json_pack("{s:I, s:f}", "pages",
                                                       (json_int_t)pages_of_point(i),
                                                       "added_ns", points[i].ns));
        }
        return rc;
}

/* The lines of the CHASE, each on a page of its own, in an order that no prefetcher
 * follows, and none waiting for another. */
static void load_apart(const struct chase *chase, uint64_t pages)
{
        const uint64_t prime = 2654435761;
        const char *base = chase->share.buffer.addr;
        for (uint64_t i = 0; i < pages; i++)
                (void)*(const volatile uint64_t *)(base + i * prime % pages *
                                                              (SMALL_PAGE_BYTES +
                                                               KERNEL_LINE_BYTES));
}

/* How many walks of WALK_NS overlap: what loads take of which each needs one and none
 * waits for another. */
static int measure_walkers(struct survey *survey, uint64_t pages, double walk_ns,
                           double *walkers, struct diag *diag)
{
        enum { ROUNDS = 64, WALKERS_MAX = 16 };
        double ns[ROUNDS];
        struct chase chase;
        survey_progress(survey, "page walks");
        int rc = chase_open(pages * (SMALL_PAGE_BYTES + KERNEL_LINE_BYTES),
                            SMALL_PAGE_BYTES + KERNEL_LINE_BYTES, PAGES_SMALL, -1, &chase,
                            diag);
        if (rc < 0)
                return rc;
        for (size_t i = 0; i < ROUNDS; i++) {
                double seconds = clock_seconds();
                load_apart(&chase, pages);
                ns[i] = (clock_seconds() - seconds) * 1e9 / (double)pages;
        }
        chase_close(&chase);
        *walkers =
            fmin(WALKERS_MAX, fmax(1, round(walk_ns / estimate_of(ns, ROUNDS).value)));
        return 0;
}

/* The cost of the second level: half way, in octaves, between both reaches. */
static double second_ns(const struct latency_point *points, size_t count,
                        json_int_t first, json_int_t second)
{
        double middle = sqrt((double)first * (double)second);
        size_t i = 0;
        while (i + 1 < count && (double)points[i].size_bytes < middle)
                i++;
        return fmax(0, points[i].ns);
}

/* The largest number of pages whose cost is below LIMIT_NS, with all smaller ones. */
static json_int_t reach(const struct latency_point *points, size_t count, double limit_ns)
{
        json_int_t pages = 0;
        for (size_t i = 0; i < count && points[i].ns <= limit_ns; i++)
                pages = (json_int_t)points[i].size_bytes;
        return pages;
}

json_t *survey_tlb(struct survey *survey, struct diag *diag)
{
        struct latency_point points[TLB_POINTS];
        size_t count = tlb_points(survey);
        json_t *curve = json_array();
        if (measure_pages(survey, points, count, curve, diag) < 0) {
                json_decref(curve);
                return NULL;
        }
        /* A hit in the first level is free; one in the second costs a few cycles, less
         * than half of what a walk does. */
        double walk_ns = points[count - 1].ns, cycle_ns = 1 / survey->core_ghz;
        json_int_t first = reach(points, count, cycle_ns);
        json_int_t second = reach(points, count, fmax(walk_ns / 2, 4 * cycle_ns));
        double hit_ns = second_ns(points, count, first, second);
        double walkers;
        if (measure_walkers(survey, (uint64_t)points[count - 1].size_bytes, walk_ns,
                            &walkers, diag) < 0) {
                json_decref(curve);
                return NULL;
        }
        json_t *tlb = json_pack(
            "{s:o, s:I, s:I, s:f, s:f, s:f, s:f}", "curve", curve, "first_pages", first,
            "second_pages", second, "second_cycles", hit_ns * survey->core_ghz, "walk_ns",
            walk_ns, "walk_cycles", walk_ns * survey->core_ghz, "walkers", walkers);
        return tlb ? tlb : no_memory(diag);
}

/* ---- memory ---- */

static int nodes_of_machine(void)
{
        char path[64];
        int nodes = 0;
        do
                snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", nodes);
        while (access(path, F_OK) == 0 && ++nodes < 1024);
        return nodes ? nodes : 1;
}

json_t *survey_memory(struct survey *survey, struct diag *diag)
{
        int nodes = nodes_of_machine();
        int64_t huge = 0;
        json_t *list = json_array();
        survey->idle_ns = NAN;
        for (int node = 0; node < nodes; node++) {
                struct chase chase;
                struct estimate estimate;
                survey_progress(survey, "latency of memory on node %d", node);
                int rc = chase_open(survey->data_bytes, KERNEL_LINE_BYTES, PAGES_HUGE,
                                    nodes > 1 ? node : -1, &chase, diag);
                if (rc == 0) {
                        rc = survey_chases(survey, &chase, 1, VISITS_ALONE, &estimate,
                                           diag);
                        huge = buffer_huge_bytes(&chase.share.buffer);
                        chase_close(&chase);
                }
                if (rc < 0) {
                        json_decref(list);
                        return NULL;
                }
                survey->idle_ns = fmin(survey->idle_ns, estimate.value);
                survey_noise(survey, estimate_error(&estimate));
                json_array_append_new(
                    list, json_pack("{s:i, s:f, s:f, s:f, s:f, s:b}", "node", node,
                                    "latency_ns", estimate.value, "latency_cycles",
                                    estimate.value * survey->core_ghz, "error",
                                    estimate_error(&estimate), "size_bytes",
                                    (double)survey->data_bytes, "huge_pages",
                                    huge > (int64_t)survey->data_bytes / 2));
        }
        return list;
}

/* ---- the core ---- */

/* COUNT times a hundred instructions that hardly depend on each other, for all kinds of
 * execution units, so that none of these is short before issue is. No NOPs, which some
 * cores take several of as one. */
static void run_independent(uint64_t count)
{
        const uint64_t word = 0;
        __asm__ volatile("1:\n\t"
                         ".rept 10\n\t"
                         "add $1, %%rax\n\t"
                         "paddq %%xmm0, %%xmm1\n\t"
                         "add $1, %%rcx\n\t"
                         "mov %[word], %%r9\n\t"
                         "add $1, %%rdx\n\t"
                         "paddq %%xmm0, %%xmm2\n\t"
                         "mov %[word], %%r10\n\t"
                         "add $1, %%r8\n\t"
                         "paddq %%xmm0, %%xmm3\n\t"
                         "mov %[word], %%r11\n\t"
                         ".endr\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : [n] "+r"(count)
                         : [word] "m"(word)
                         : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm1", "xmm2",
                           "xmm3", "cc");
}

static double instructions_per_cycle(const struct survey *survey)
{
        enum { ROUNDS = 64, REPEATS = 5000 };
        double ns[ROUNDS];
        for (size_t i = 0; i < ROUNDS; i++) {
                double seconds = clock_seconds();
                run_independent(REPEATS);
                ns[i] = (clock_seconds() - seconds) * 1e9 / (REPEATS * 102.0);
        }
        return 1 / (estimate_of(ns, ROUNDS).value * survey->core_ghz);
}

json_t *survey_core(struct survey *survey, struct diag *diag)
{
        enum { ROUNDS = 9 };
        struct kernel_parameters parameters = kernel_gather.defaults;
        struct kernel_counts counts;
        struct series series = {0};
        parameters.size_bytes = survey->data_bytes;
        parameters.threads = 1;
        parameters.passes = 1;
        parameters.node = -1;
        survey_progress(survey, "the core");
        kernel_gather.count(&parameters, &counts);
        if (survey_rounds(survey, &kernel_gather, &parameters, ROUNDS,
                          (double)counts.accesses, &series, diag) < 0)
                return NULL;
        double gather_ns = survey_estimate(survey, &series).value;
        double misses = fmin(32, fmax(1, round(survey->idle_ns / gather_ns)));
        double width = fmin(16, fmax(1, round(instructions_per_cycle(survey))));
        json_t *core = json_pack("{s:f, s:f, s:f}", "issue_width", width,
                                 "outstanding_misses", misses, "gather_ns", gather_ns);
        return core ? core : no_memory(diag);
}
