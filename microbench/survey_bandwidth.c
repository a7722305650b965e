/* SPDX-License-Identifier: MIT */
/* The part of a survey that is about bandwidth, over the number of threads and of each
 * cache. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "survey.h"

enum { TURNS = 5, TURNS_QUICK = 2, ROUNDS = 24, ROUNDS_HURRIED = 12, LEVELS_MAX = 3 };

/* What a round of bandwidth goes over: a few milliseconds, in which a busy machine may
 * leave it undisturbed. Its neighbours have left the caches when its turn comes again. */
#define WINDOW_BYTES (UINT64_C(32) << 20)

static uint32_t widest_bits(void)
{
        return __builtin_cpu_supports("avx") ? 256 : 128;
}

/* What is measured of each number of threads, and but for triad of each cache. */
enum { OF_LOADS, OF_STORES, OF_TRIAD, KERNELS };

static const struct kernel *const bandwidth_kernels[KERNELS] = {
    [OF_LOADS] = &kernel_load, [OF_STORES] = &kernel_store, [OF_TRIAD] = &kernel_triad};

/* THREADS in data of SIZE_BYTES in all: memory, or a cache. */
struct bandwidth_point {
        uint32_t threads;
        unsigned level; /* of the caches; 0: memory */
        uint64_t size_bytes;
        uint64_t passes; /* of a round */
        uint32_t windows;
        size_t kernels;
        struct series series[KERNELS]; /* ns a byte */
        double gbs[KERNELS];
        double error[KERNELS];
};

/* Some rounds of KERNEL. */
static int add_rounds(struct survey *survey, const struct bandwidth_point *point,
                      const struct kernel *kernel, size_t rounds, struct series *series,
                      struct diag *diag)
{
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
        return survey_rounds(survey, kernel, &parameters, rounds, bytes, series, diag);
}

/* All kernels, numbers of threads and caches in turns, several times. */
static int measure_bandwidths(struct survey *survey, struct bandwidth_point *points,
                              size_t count, struct diag *diag)
{
        size_t turns = survey->quick ? TURNS_QUICK : TURNS;
        for (size_t turn = 0; turn < turns; turn++) {
                for (size_t i = 0; i < count * KERNELS; i++) {
                        struct bandwidth_point *point = &points[i / KERNELS];
                        size_t kernel = i % KERNELS;
                        bool late = survey_is_late(survey);
                        if (kernel >= point->kernels)
                                continue;
                        survey->hurried += late;
                        if (late && turn > 0)
                                continue;
                        survey_progress(survey, "bandwidth of %u threads",
                                        point->threads);
                        int rc = add_rounds(survey, point, bandwidth_kernels[kernel],
                                            late ? ROUNDS_HURRIED : ROUNDS,
                                            &point->series[kernel], diag);
                        if (rc < 0)
                                return rc;
                }
        }
        return 0;
}

/* All numbers on small machines, fewer and fewer on large ones. */
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
            .kernels = KERNELS,
        };
}

/* One thread in each cache whose size the system reports: data that is half of it, but no
 * more than twice the one before, as the last may be shared with others. */
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

/* The points for this machine; the caller frees them. */
static struct bandwidth_point *make_points(const struct survey *survey, size_t *count)
{
        uint32_t cpus = (uint32_t)survey->cpus.count;
        struct bandwidth_point *points = calloc(cpus + LEVELS_MAX, sizeof(*points));
        *count = 0;
        for (uint32_t n = 1; points && n <= cpus; n = next_threads(n, cpus))
                set_threads(survey, n, &points[(*count)++]);
        if (points)
                *count += set_levels(&points[*count]);
        return points;
}

static json_t *threads_json(const struct bandwidth_point *point)
{
        return json_pack("{s:i, s:f, s:f, s:f, s:f}", "threads", (int)point->threads,
                         "read_gbs", point->gbs[OF_LOADS], "write_gbs",
                         point->gbs[OF_STORES], "triad_gbs", point->gbs[OF_TRIAD],
                         "error", point->error[OF_LOADS]);
}

static json_t *level_json(const struct bandwidth_point *point)
{
        return json_pack("{s:i, s:I, s:f, s:f, s:f}", "level", (int)point->level,
                         "size_bytes", (json_int_t)point->size_bytes, "read_gbs",
                         point->gbs[OF_LOADS], "write_gbs", point->gbs[OF_STORES],
                         "error", point->error[OF_LOADS]);
}

static void estimate_point(struct survey *survey, struct bandwidth_point *point)
{
        for (size_t k = 0; k < point->kernels; k++) {
                struct estimate estimate = survey_shortest(survey, &point->series[k]);
                point->gbs[k] = 1 / estimate.value;
                point->error[k] = estimate_error(&estimate);
                survey_noise(survey, point->error[k]);
        }
}

static json_t *bandwidth_json(struct survey *survey, struct bandwidth_point *points,
                              size_t count, struct threads_gbs *reads)
{
        json_t *threads = json_array(), *levels = json_array();
        double peaks[KERNELS] = {0};
        size_t numbers = 0;
        for (size_t i = 0; i < count; i++) {
                struct bandwidth_point *point = &points[i];
                estimate_point(survey, point);
                if (point->level > 0) {
                        json_array_append_new(levels, level_json(point));
                        continue;
                }
                for (size_t k = 0; k < KERNELS; k++)
                        peaks[k] = fmax(peaks[k], point->gbs[k]);
                reads[numbers++] =
                    (struct threads_gbs){point->threads, point->gbs[OF_LOADS]};
                json_array_append_new(threads, threads_json(point));
        }
        return json_pack("{s:o, s:o, s:f, s:f, s:f, s:i}", "threads", threads, "levels",
                         levels, "peak_read_gbs", peaks[OF_LOADS], "peak_write_gbs",
                         peaks[OF_STORES], "peak_triad_gbs", peaks[OF_TRIAD],
                         "saturating_threads",
                         (int)curve_saturating_threads(reads, numbers));
}

json_t *survey_bandwidth(struct survey *survey, struct diag *diag)
{
        size_t count;
        struct bandwidth_point *points = make_points(survey, &count);
        struct threads_gbs *reads = calloc(count + 1, sizeof(*reads));
        json_t *bandwidth = NULL;
        int rc = points && reads ? measure_bandwidths(survey, points, count, diag)
                                 : diag_no_memory(diag);
        if (rc == 0)
                bandwidth = bandwidth_json(survey, points, count, reads);
        free(reads);
        free(points);
        return bandwidth;
}
