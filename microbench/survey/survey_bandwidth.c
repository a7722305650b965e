/* SPDX-License-Identifier: MIT */
/* Survey of bandwidth, by thread count and for each cache. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "curve.h"
#include "reported.h"
#include "survey.h"

enum { ROUNDS = 24, ROUNDS_HURRIED = 12, LEVELS_MAX = 3 };

/* Data of a round: a few milliseconds, short enough to stay undisturbed on a busy
 * machine. Other windows evict it from the caches before its next turn. */
#define WINDOW_BYTES (UINT64_C(32) << 20)

static uint32_t widest_bits(void)
{
        return __builtin_cpu_supports("avx") ? 256 : 128;
}

/* Caches have loads and stores, thread counts also triad, one thread all of them. */
enum { OF_LOADS, OF_STORES, OF_TRIAD, OF_NONTEMPORAL, KERNELS };

static const struct kernel *const bandwidth_kernels[KERNELS] = {
    [OF_LOADS] = &kernel_load,
    [OF_STORES] = &kernel_store,
    [OF_TRIAD] = &kernel_triad,
    [OF_NONTEMPORAL] = &kernel_nontemporal,
};

/* THREADS threads on SIZE_BYTES of data in total, in memory or a cache. */
struct bandwidth_point {
        uint32_t threads;
        unsigned level; /* number of the cache level; 0: memory */
        uint64_t size_bytes;
        uint64_t passes; /* per round */
        uint32_t windows;
        size_t kernels;
        struct visits visits[KERNELS];
        struct estimate estimates[KERNELS]; /* of GB/s */
        double gbs[KERNELS];                /* NAN: not known */
        double error[KERNELS];
};

/* Runs some rounds of KERNEL. */
static int run_rounds(struct survey *survey, const struct bandwidth_point *point,
                      const struct kernel *kernel, struct visit *visit, struct diag *diag)
{
        size_t rounds = survey_is_late(survey) ? ROUNDS_HURRIED : ROUNDS;
        struct kernel_parameters parameters = kernel->defaults;
        struct kernel_counts counts;
        parameters.size_bytes = point->size_bytes;
        parameters.threads = point->threads;
        parameters.passes = point->passes;
        parameters.windows = point->windows;
        parameters.node = -1;
        parameters.width_bits = widest_bits();
        kernel->count(&parameters, &counts);
        double bytes = (double)counts.bytes * (double)point->passes /
                       (point->windows > 1 ? point->windows : 1);
        return survey_rounds(survey, kernel, &parameters, rounds, bytes, visit, diag);
}

/* Visits KERNEL unless the CPUs are apart. */
static int visit_kernel(struct survey *survey, const struct bandwidth_point *point,
                        const struct kernel *kernel, struct visits *visits,
                        struct diag *diag)
{
        struct stay *stay = &visits->stays[visits->count];
        bool now;
        int rc = survey_arrive(survey, point->threads, stay, &now, diag);
        if (rc < 0 || !now)
                return rc;
        rc = run_rounds(survey, point, kernel, &visits->visits[visits->count], diag);
        if (rc == 0)
                rc = survey_depart(survey, point->threads, stay, diag);
        visits->count += rc == 0;
        return rc;
}

/* All thread counts on small machines, wider steps on large ones. */
static uint32_t next_threads(uint32_t threads, uint32_t cpus)
{
        uint32_t next = threads < 8 ? threads + 1 : threads + threads / 4;
        return threads < cpus && next > cpus ? cpus : next;
}

static void set_threads(const struct survey *survey, uint32_t threads,
                        struct bandwidth_point *point)
{
        uint64_t size_bytes = survey->data_bytes * threads;
        if (size_bytes > survey->memory_bytes / 2)
                size_bytes = survey->memory_bytes / 2;
        *point = (struct bandwidth_point){
            .threads = threads,
            .size_bytes = size_bytes,
            .passes = 1,
            .windows = (uint32_t)(size_bytes / threads / WINDOW_BYTES),
            .kernels = threads == 1 ? KERNELS : OF_TRIAD + 1,
        };
}

/* One thread for each cache with a reported size. The data is half of the cache, but at
 * most twice the previous data, because others may share the last cache. */
static size_t set_levels(struct bandwidth_point *points)
{
        uint64_t before = 0;
        size_t count = 0;
        for (unsigned level = 1; level <= LEVELS_MAX; level++) {
                uint64_t bytes = reported_cache_bytes(level), size = bytes / 2;
                if (bytes == 0)
                        break;
                if (before > 0 && size > 2 * before)
                        size = 2 * before;
                before = bytes;
                points[count++] = (struct bandwidth_point){
                    .threads = 1,
                    .level = level,
                    .size_bytes = size,
                    .passes = WINDOW_BYTES / size + 1,
                    .kernels = OF_STORES + 1,
                };
        }
        return count;
}

struct bandwidths {
        struct bandwidth_point *points;
        size_t count;
};

static void bandwidth_close(void *state)
{
        struct bandwidths *bandwidths = state;
        free(bandwidths->points);
}

static int bandwidth_open(struct survey *survey, void *state, struct diag *diag)
{
        uint32_t cpus = (uint32_t)survey->cpus.count;
        struct bandwidths *bandwidths = state;
        bandwidths->points = calloc(cpus + LEVELS_MAX, sizeof(struct bandwidth_point));
        if (!bandwidths->points)
                return diag_no_memory(diag);
        size_t count = 0;
        if (survey->reaches_memory)
                for (uint32_t n = 1; n <= cpus; n = next_threads(n, cpus))
                        set_threads(survey, n, &bandwidths->points[count++]);
        bandwidths->count = count + set_levels(&bandwidths->points[count]);
        return 0;
}

static int visit_point(struct survey *survey, struct bandwidth_point *point,
                       struct diag *diag)
{
        survey_progress(survey, "bandwidth of %u threads", point->threads);
        int rc = 0;
        for (size_t k = 0; rc == 0 && k < point->kernels; k++)
                if (survey_wants_visit(survey, &point->visits[k]))
                        rc = visit_kernel(survey, point, bandwidth_kernels[k],
                                          &point->visits[k], diag);
        return rc;
}

/* Visits all kernels, thread counts and caches in turn. */
static int bandwidth_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct bandwidths *bandwidths = state;
        int rc = 0;
        for (size_t visit = 0; visit < survey->sweep_visits; visit++)
                for (size_t i = 0; rc == 0 && i < bandwidths->count; i++)
                        if (!survey->between || bandwidths->points[i].threads > 1)
                                rc = visit_point(survey, &bandwidths->points[i], diag);
        return rc;
}

static json_t *threads_json(const struct bandwidth_point *point)
{
        json_t *json =
            json_pack("{s:i, s:o, s:o, s:o, s:o}", "threads", (int)point->threads,
                      "read_gbs", survey_number(point->gbs[OF_LOADS]), "write_gbs",
                      survey_number(point->gbs[OF_STORES]), "triad_gbs",
                      survey_number(point->gbs[OF_TRIAD]), "error",
                      survey_number(point->error[OF_LOADS]));
        if (json && point->kernels > OF_NONTEMPORAL)
                json_object_set_new(json, "nontemporal_gbs",
                                    survey_number(point->gbs[OF_NONTEMPORAL]));
        return json;
}

static json_t *level_json(const struct bandwidth_point *point)
{
        return json_pack("{s:i, s:I, s:o, s:o, s:o}", "level", (int)point->level,
                         "size_bytes", (json_int_t)point->size_bytes, "read_gbs",
                         survey_number(point->gbs[OF_LOADS]), "write_gbs",
                         survey_number(point->gbs[OF_STORES]), "error",
                         survey_number(point->error[OF_LOADS]));
}

static void name_figure(const struct bandwidth_point *point, size_t kernel, char *name,
                        size_t size)
{
        static const char *const names[KERNELS] = {"loads", "stores", "triad",
                                                   "non-temporal stores"};
        if (point->level > 0)
                snprintf(name, size, "the bandwidth of %s in L%u", names[kernel],
                         point->level);
        else
                snprintf(name, size, "the bandwidth of %s of %u threads", names[kernel],
                         point->threads);
}

/* ONE: the point with one thread. */
static void estimate_point(struct survey *survey, const struct bandwidth_point *one,
                           struct bandwidth_point *point)
{
        for (size_t k = 0; k < point->kernels; k++) {
                char name[64];
                struct series series;
                name_figure(point, k, name, sizeof(name));
                point->gbs[k] = point->error[k] = NAN;
                survey_read_visits(survey, &point->visits[k], PLACE_TOGETHER, &series);
                struct estimate ns = survey_estimate(survey, &series);
                struct estimate *estimate = &point->estimates[k];
                *estimate = estimate_inverse(&ns);
                double gbs = survey_known(survey, estimate, "%s", name);
                if (!isnan(gbs) && point->threads > 1 && !isnan(one->gbs[k]) &&
                    !curve_threads_can(point->threads, gbs, one->gbs[k])) {
                        survey_leave_out(survey,
                                         "%s (%.1f GB/s, more than %u times the %.1f of "
                                         "one)",
                                         name, gbs, point->threads, one->gbs[k]);
                        continue;
                }
                point->gbs[k] = gbs;
                point->error[k] = isnan(gbs) ? NAN : estimate_error(estimate);
        }
}

/* The greatest bandwidth of KERNEL that all thread counts have, if it is known. */
static double peak_of(const struct bandwidths *bandwidths, size_t numbers, size_t kernel)
{
        size_t most = 0;
        for (size_t i = 0; i < numbers; i++) {
                double gbs = bandwidths->points[i].estimates[kernel].value;
                if (isnan(gbs))
                        return NAN; /* it may be the greatest */
                if (gbs > bandwidths->points[most].estimates[kernel].value)
                        most = i;
        }
        return bandwidths->points[most].gbs[kernel];
}

/* Adds the fewest threads with the peak, if some percent more or less tell the same. */
static void add_saturating(const struct bandwidths *bandwidths, size_t numbers,
                           json_t *json)
{
        static const double least = 0.92, part = 0.95, most = 0.98;
        struct threads_gbs *reads = calloc(numbers, sizeof(*reads));
        bool complete = reads;
        for (size_t i = 0; reads && i < numbers; i++) {
                const struct bandwidth_point *point = &bandwidths->points[i];
                reads[i] = (struct threads_gbs){point->threads, point->gbs[OF_LOADS]};
                complete &= !isnan(reads[i].gbs);
        }
        unsigned threads = complete ? curve_saturating_threads(reads, numbers, part) : 0;
        if (complete && threads == curve_saturating_threads(reads, numbers, least) &&
            threads == curve_saturating_threads(reads, numbers, most))
                json_object_set_new(json, "saturating_threads", json_integer(threads));
        free(reads);
}

static void add_peaks(const struct bandwidths *bandwidths, size_t numbers, json_t *json)
{
        static const char *const keys[] = {"peak_read_gbs", "peak_write_gbs",
                                           "peak_triad_gbs"};
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
                json_object_set_new(json, keys[k],
                                    survey_number(peak_of(bandwidths, numbers, k)));
        add_saturating(bandwidths, numbers, json);
}

static json_t *bandwidth_result(struct survey *survey, void *state)
{
        struct bandwidths *bandwidths = state;
        json_t *threads = json_array(), *levels = json_array();
        for (size_t i = 0; i < bandwidths->count; i++) {
                struct bandwidth_point *point = &bandwidths->points[i];
                estimate_point(survey, &bandwidths->points[0], point);
                if (point->level > 0)
                        json_array_append_new(levels, level_json(point));
                else
                        json_array_append_new(threads, threads_json(point));
        }
        json_t *json = json_pack("{s:O, s:o}", "threads", threads, "levels", levels);
        if (json && json_array_size(threads) > 0)
                add_peaks(bandwidths, json_array_size(threads), json);
        json_decref(threads);
        return json;
}

const struct survey_part survey_bandwidth = {
    .key = "bandwidth",
    .several = true,
    .state_bytes = sizeof(struct bandwidths),
    .open = bandwidth_open,
    .sweep = bandwidth_sweep,
    .result = bandwidth_result,
    .close = bandwidth_close,
};
