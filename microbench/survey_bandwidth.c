/* SPDX-License-Identifier: MIT */
/* The parts of a survey that are about bandwidth: peaks over the number of threads, and
 * latency under load. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve.h"
#include "survey.h"

enum { ROUNDS = 9 };

/* H19 and this project's rule for contention: a quarter more than idle. */
static const double KNEE_FACTOR = 1.25;

static uint32_t widest_bits(void)
{
        return __builtin_cpu_supports("avx") ? 256 : 128;
}

/* GB/s of KERNEL on THREADS; noise only ever takes from it. */
static int kernel_gbs(struct survey *survey, const struct kernel *kernel,
                      uint32_t threads, double *gbs, double *error, struct diag *diag)
{
        struct kernel_parameters parameters = kernel->defaults;
        struct measurement rounds[ROUNDS];
        struct kernel_counts counts;
        double values[ROUNDS];
        parameters.size_bytes = survey->data_bytes * threads;
        if (parameters.size_bytes > survey->memory_bytes / 2)
                parameters.size_bytes = survey->memory_bytes / 2;
        parameters.threads = threads;
        parameters.passes = 1;
        parameters.node = -1;
        parameters.width_bits = widest_bits();
        int rc = measure(kernel, &parameters, &survey->cpus, rounds, ROUNDS, diag);
        if (rc < 0)
                return rc;
        kernel->count(&parameters, &counts);
        for (size_t i = 0; i < ROUNDS; i++)
                values[i] = rounds[i].seconds / (double)counts.bytes * 1e9;
        struct estimate estimate = estimate_of(values, ROUNDS);
        *gbs = 1 / estimate.value;
        *error = estimate_error(&estimate);
        return 0;
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
        json_t *bandwidth = NULL;
        if (rc == 0)
                bandwidth = json_pack(
                    "{s:O, s:f, s:f, s:f, s:i}", "threads", list, "peak_read_gbs",
                    peak_read, "peak_write_gbs", peak_write, "peak_triad_gbs", peak_triad,
                    "saturating_threads", (int)curve_saturating_threads(reads, count));
        json_decref(list);
        free(reads);
        return bandwidth;
}

/* ---- latency under load ---- */

static int loaded_point(struct survey *survey, struct chase *chase, uint32_t threads,
                        uint32_t delay_nops, struct load_point *point, double *error,
                        struct diag *diag)
{
        struct kernel_parameters parameters = kernel_memread.defaults;
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
        struct estimate estimate = survey_chase(survey, chase);
        *error = estimate_error(&estimate);
        *point = (struct load_point){
            .gbs = load_stop(load) + KERNEL_LINE_BYTES / estimate.value,
            .ns = estimate.value,
        };
        return 0;
}

static int measure_loads(struct survey *survey, struct chase *chase, json_t *curve,
                         struct load_point *points, size_t *count, struct diag *diag)
{
        static const uint32_t delays[] = {6400, 1600, 800, 400, 200, 100, 50, 25, 0};
        uint32_t others = (uint32_t)survey->cpus.count - 1;
        for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
                struct load_point *point = &points[*count];
                double error;
                if (survey->quick && i % 2)
                        continue;
                survey_progress(survey, "latency beside %u threads with delay %u", others,
                                delays[i]);
                int rc =
                    loaded_point(survey, chase, others, delays[i], point, &error, diag);
                if (rc < 0)
                        return rc;
                json_array_append_new(
                    curve, json_pack("{s:i, s:i, s:f, s:f, s:f}", "threads", (int)others,
                                     "delay_nops", (int)delays[i], "gbs", point->gbs,
                                     "latency_ns", point->ns, "error", error));
                (*count)++;
        }
        return 0;
}

json_t *survey_loaded(struct survey *survey, struct diag *diag)
{
        struct load_point points[16];
        struct chase chase;
        size_t count = 0;
        json_t *curve = json_array();
        int rc = 0;
        if (survey->cpus.count > 1) {
                rc = chase_open(survey->data_bytes, KERNEL_LINE_BYTES, PAGES_HUGE, -1,
                                &chase, diag);
                if (rc == 0) {
                        rc = measure_loads(survey, &chase, curve, points, &count, diag);
                        chase_close(&chase);
                }
        }
        json_t *loaded = NULL;
        if (rc == 0) {
                double knee = curve_knee_gbs(points, count, survey->idle_ns, KNEE_FACTOR);
                loaded = json_pack("{s:O, s:f, s:o}", "curve", curve, "idle_ns",
                                   survey->idle_ns, "knee_gbs",
                                   isnan(knee) ? json_null() : json_real(knee));
        }
        json_decref(curve);
        return loaded;
}
