/* SPDX-License-Identifier: MIT */
/* The parts of a survey that are about bandwidth: peaks over the number of threads, and
 * latency under load. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "survey.h"

enum { ROUNDS = 9, LEVELS = 3, ROUNDS_HURRIED = 3 };

/* H19 and this project's rule for contention: a quarter more than idle. */
static const double KNEE_FACTOR = 1.25;

static uint32_t widest_bits(void)
{
        return __builtin_cpu_supports("avx") ? 256 : 128;
}

/* GB/s of KERNEL on THREADS; noise only ever takes from it. */
static int gbs_of(struct survey *survey, const struct kernel *kernel, uint32_t threads,
                  uint64_t size_bytes, uint64_t passes, double *gbs, double *error,
                  struct diag *diag)
{
        struct kernel_parameters parameters = kernel->defaults;
        struct measurement rounds[ROUNDS];
        struct kernel_counts counts;
        double values[ROUNDS];
        size_t count = survey_hurries(survey) ? ROUNDS_HURRIED : ROUNDS;
        parameters.size_bytes = size_bytes;
        parameters.threads = threads;
        parameters.passes = passes;
        parameters.node = -1;
        parameters.width_bits = widest_bits();
        int rc = measure(kernel, &parameters, &survey->cpus, rounds, count, diag);
        if (rc < 0)
                return rc;
        kernel->count(&parameters, &counts);
        for (size_t i = 0; i < count; i++)
                values[i] =
                    rounds[i].seconds / (double)counts.bytes / (double)passes * 1e9;
        struct estimate estimate = estimate_of(values, count);
        *gbs = 1 / estimate.value;
        *error = estimate_error(&estimate);
        return 0;
}

/* The same of memory. */
static int kernel_gbs(struct survey *survey, const struct kernel *kernel,
                      uint32_t threads, double *gbs, double *error, struct diag *diag)
{
        uint64_t size_bytes = survey->data_bytes * threads;
        if (size_bytes > survey->memory_bytes / 2)
                size_bytes = survey->memory_bytes / 2;
        return gbs_of(survey, kernel, threads, size_bytes, 1, gbs, error, diag);
}

/* What one thread reads from each cache whose size the system reports: data that is half
 * of it, but no more than twice the one before, as the last may be shared with others. */
static json_t *levels_gbs(struct survey *survey, struct diag *diag)
{
        json_t *list = json_array();
        uint64_t before = 0;
        for (unsigned level = 1; list && level <= LEVELS; level++) {
                uint64_t bytes = reported_cache_bytes(level);
                uint64_t size = bytes / 2;
                double gbs, error;
                if (bytes == 0)
                        break;
                if (before > 0 && size > 2 * before)
                        size = 2 * before;
                before = bytes;
                survey_progress(survey, "bandwidth of level %u", level);
                if (gbs_of(survey, &kernel_load, 1, size, survey->data_bytes / size + 1,
                           &gbs, &error, diag) < 0) {
                        json_decref(list);
                        return NULL;
                }
                json_array_append_new(list, json_pack("{s:i, s:I, s:f, s:f}", "level",
                                                      (int)level, "size_bytes",
                                                      (json_int_t)size, "read_gbs", gbs,
                                                      "error", error));
        }
        return list;
}

/* All numbers on small machines, fewer and fewer on large ones. */
static uint32_t next_threads(uint32_t threads, uint32_t cpus)
{
        uint32_t next = threads < 8 ? threads + 1 : threads + threads / 4;
        return threads < cpus && next > cpus ? cpus : next;
}

json_t *survey_bandwidth(struct survey *survey, struct diag *diag)
{
        uint32_t cpus = (uint32_t)survey->cpus.count;
        double *reads = calloc(cpus, sizeof(*reads));
        json_t *list = json_array();
        double peak_read = 0, peak_write = 0, peak_triad = 0;
        size_t count = 0;
        int rc = reads && list ? 0 : diag_no_memory(diag);
        for (uint32_t n = 1; rc == 0 && n <= cpus; n = next_threads(n, cpus)) {
                double read, write, triad, error, ignored;
                survey_progress(survey, "bandwidth of %u threads", n);
                rc = kernel_gbs(survey, &kernel_load, n, &read, &error, diag);
                if (rc == 0)
                        rc = kernel_gbs(survey, &kernel_store, n, &write, &ignored, diag);
                if (rc == 0)
                        rc = kernel_gbs(survey, &kernel_triad, n, &triad, &ignored, diag);
                if (rc < 0)
                        break;
                reads[count++] = read;
                peak_read = fmax(peak_read, read);
                peak_write = fmax(peak_write, write);
                peak_triad = fmax(peak_triad, triad);
                json_array_append_new(list, json_pack("{s:i, s:f, s:f, s:f, s:f}",
                                                      "threads", (int)n, "read_gbs", read,
                                                      "write_gbs", write, "triad_gbs",
                                                      triad, "error", error));
        }
        json_t *levels = rc == 0 ? levels_gbs(survey, diag) : NULL;
        json_t *bandwidth = NULL;
        if (levels)
                bandwidth = json_pack("{s:O, s:O, s:f, s:f, s:f, s:i}", "threads", list,
                                      "levels", levels, "peak_read_gbs", peak_read,
                                      "peak_write_gbs", peak_write, "peak_triad_gbs",
                                      peak_triad, "saturating_threads",
                                      (int)curve_saturating_threads(reads, count));
        json_decref(levels);
        json_decref(list);
        free(reads);
        return bandwidth;
}

/* ---- latency under load ---- */

/* Adds VALUE under KEY unless it was not measured. */
static void add_measured(json_t *object, const char *key, double value)
{
        if (!isnan(value))
                json_object_set_new(object, key, json_real(value));
}

/* The chase's estimate, and the counts of its thread and of LOAD's, which may be NULL. */
struct counted {
        struct estimate estimate;
        struct point_counts chase, load;
};

static int count_threads(const struct survey *survey, const struct load *load,
                         uint32_t threads, struct point_counters **counters,
                         struct diag *diag)
{
        pid_t *numbers = calloc(threads, sizeof(*numbers));
        if (!numbers)
                return diag_no_memory(diag);
        if (load)
                load_threads(load, numbers);
        else
                numbers[0] = 0; /* the one that calls this */
        *counters = point_counters_start(survey->events, numbers, threads, diag);
        free(numbers);
        return *counters ? 0 : -EIO;
}

static int chase_counted(struct survey *survey, struct chase *chase,
                         const struct load *load, uint32_t threads,
                         struct counted *counted, struct diag *diag)
{
        struct point_counters *beside = NULL, *own = NULL;
        int rc = 0;
        counted->chase = counted->load = (struct point_counts){NAN, NAN};
        if (survey->events && load)
                rc = count_threads(survey, load, threads, &beside, diag);
        if (rc == 0 && survey->events)
                rc = count_threads(survey, NULL, 1, &own, diag);
        if (rc == 0)
                counted->estimate = survey_chase(survey, chase);
        if (own)
                counted->chase = point_counters_stop(own);
        if (beside)
                counted->load = point_counters_stop(beside);
        return rc;
}

static json_t *point_json(uint32_t threads, uint32_t delay_nops,
                          const struct load_point *point, const struct counted *counted)
{
        json_t *json =
            json_pack("{s:i, s:i, s:f, s:f, s:f}", "threads", (int)threads, "delay_nops",
                      (int)delay_nops, "gbs", point->gbs, "latency_ns", point->ns,
                      "error", estimate_error(&counted->estimate));
        add_measured(json, "lmrl_cycles", counted->chase.lmrl_cycles);
        add_measured(json, "load_lmrl_cycles", counted->load.lmrl_cycles);
        add_measured(json, "load_fb_full_share", counted->load.fb_full_share);
        return json;
}

static int loaded_point(struct survey *survey, struct chase *chase, uint32_t threads,
                        uint32_t delay_nops, struct load_point *point, json_t *curve,
                        struct diag *diag)
{
        struct kernel_parameters parameters = kernel_memread.defaults;
        struct counted counted;
        struct load *load;
        parameters.threads = threads;
        parameters.delay_nops = delay_nops;
        parameters.node = -1;
        parameters.passes = 1;
        parameters.size_bytes = survey->data_bytes;
        int rc =
            load_start(&kernel_memread, &parameters, survey->cpus.cpus + 1, &load, diag);
        if (rc < 0)
                return rc;
        rc = chase_counted(survey, chase, load, threads, &counted, diag);
        double load_gbs = load_stop(load);
        if (rc < 0)
                return rc;
        *point = (struct load_point){
            .gbs = load_gbs + KERNEL_LINE_BYTES / counted.estimate.value,
            .ns = counted.estimate.value,
            .lmrl_cycles = counted.chase.lmrl_cycles,
        };
        json_array_append_new(curve, point_json(threads, delay_nops, point, &counted));
        return 0;
}

static int measure_loads(struct survey *survey, struct chase *chase, json_t *curve,
                         struct load_point *points, size_t *count, struct diag *diag)
{
        static const uint32_t delays[] = {6400, 1600, 800, 400, 200, 100, 50, 25, 0};
        uint32_t others = (uint32_t)survey->cpus.count - 1;
        for (size_t i = 0; others > 0 && i < sizeof(delays) / sizeof(delays[0]); i++) {
                if (survey->quick && i % 2)
                        continue;
                if (i % 4 && survey_hurries(survey))
                        continue;
                survey_progress(survey, "latency beside %u threads with delay %u", others,
                                delays[i]);
                int rc = loaded_point(survey, chase, others, delays[i], &points[*count],
                                      curve, diag);
                if (rc < 0)
                        return rc;
                (*count)++;
        }
        return 0;
}

/* The chase alone, where it can be counted, and beside each load. */
static int measure_idle_and_loads(struct survey *survey, struct chase *chase,
                                  struct counted *idle, json_t *curve,
                                  struct load_point *points, size_t *count,
                                  struct diag *diag)
{
        int rc = 0;
        if (survey->events)
                rc = chase_counted(survey, chase, NULL, 0, idle, diag);
        return rc < 0 ? rc : measure_loads(survey, chase, curve, points, count, diag);
}

static json_t *loaded_json(const struct survey *survey, json_t *curve,
                           const struct counted *idle, struct load_point *points,
                           size_t count)
{
        double knee = curve_knee_gbs(points, count, survey->idle_ns, KNEE_FACTOR);
        json_t *loaded =
            json_pack("{s:O, s:f, s:o}", "curve", curve, "idle_ns", survey->idle_ns,
                      "knee_gbs", isnan(knee) ? json_null() : json_real(knee));
        add_measured(loaded, "idle_lmrl_cycles", idle->chase.lmrl_cycles);
        if (!isnan(knee))
                add_measured(loaded, "lmrl_threshold_cycles",
                             curve_lmrl_at(points, count, knee));
        return loaded;
}

json_t *survey_loaded(struct survey *survey, struct diag *diag)
{
        struct load_point points[16];
        struct chase chase;
        struct counted idle = {.chase = {NAN, NAN}};
        size_t count = 0;
        int rc = 0;
        json_t *loaded = NULL, *curve = json_array();
        /* One CPU has no other to load it, and without a PMU nothing to count either. */
        if (survey->cpus.count > 1 || survey->events) {
                rc = chase_open(survey->data_bytes, KERNEL_LINE_BYTES, PAGES_HUGE, -1,
                                &chase, diag);
                if (rc == 0) {
                        rc = measure_idle_and_loads(survey, &chase, &idle, curve, points,
                                                    &count, diag);
                        chase_close(&chase);
                }
        }
        if (rc == 0)
                loaded = loaded_json(survey, curve, &idle, points, count);
        json_decref(curve);
        return loaded;
}
