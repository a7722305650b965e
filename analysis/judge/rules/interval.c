/* SPDX-License-Identifier: MIT */
/* Sums counter values into intervals and derives their metrics. Knows the meaning of
 * counters, but no thresholds, samples or database. */
#include "interval.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "array.h"

/* A thread works on memory if an L1D miss was outstanding in at least a tenth of its
 * cycles. Waiting for a full store buffer in a tenth of its cycles counts too. */
static const double MEMORY_THREAD_RATIO = 0.1;

static int64_t min_int64(int64_t a, int64_t b)
{
        return a < b ? a : b;
}

static int64_t max_int64(int64_t a, int64_t b)
{
        return a > b ? a : b;
}

void interval_series_init(struct interval_series *series, int64_t interval_ns)
{
        *series =
            (struct interval_series){.interval_ns = interval_ns, .first_ns = INT64_MAX};
}

void interval_series_free(struct interval_series *series)
{
        free(series->intervals);
        series->intervals = NULL;
        series->count = 0;
}

static bool interval_is_below(const void *item, const void *key)
{
        const struct interval *interval = item;
        return interval->id < *(const int64_t *)key;
}

static struct interval *find_id(const struct interval_series *series, int64_t id)
{
        size_t at =
            array_count_before(series->intervals, series->count,
                               sizeof(*series->intervals), interval_is_below, &id);
        return at < series->count && series->intervals[at].id == id
                   ? &series->intervals[at]
                   : NULL;
}

/* Returns interval ID, created if new. Counter values arrive by start time: a new
 * interval follows all existing ones. */
static struct interval *get_id(struct interval_series *series, int64_t id)
{
        if (series->count && series->intervals[series->count - 1].id >= id)
                return find_id(series, id);
        if (array_reserve(&series->intervals, &series->capacity, series->count,
                          sizeof(*series->intervals)) < 0)
                return NULL;
        struct interval *interval = &series->intervals[series->count++];
        *interval = (struct interval){.id = id};
        return interval;
}

/* L1D misses of stores are not counted: waiting for a full store buffer replaces them. */
static bool works_on_memory(const struct thread_reading *reading)
{
        double least = MEMORY_THREAD_RATIO * reading->gained[CONCEPT_CYCLES];
        return least > 0 && (reading->gained[CONCEPT_PENDING] >= least ||
                             reading->gained[CONCEPT_STORE_BUFFER] >= least);
}

static void add_part(struct interval *interval, const struct thread_reading *reading,
                     double part)
{
        for (int c = 0; c < CONCEPT_COUNT; c++)
                interval->gained[c] += part * reading->gained[c];
        if (works_on_memory(reading))
                interval->memory_cycles += part * reading->gained[CONCEPT_CYCLES];
}

int interval_series_add(struct interval_series *series,
                        const struct thread_reading *reading)
{
        if (reading->start_ns < 0 || reading->end_ns <= reading->start_ns)
                return -EINVAL;
        int64_t first = reading->start_ns / series->interval_ns;
        int64_t last = (reading->end_ns - 1) / series->interval_ns;
        if (last - first >= READING_INTERVALS_MAX)
                return -EINVAL;
        double length = (double)(reading->end_ns - reading->start_ns);
        for (int64_t id = first; id <= last; id++) {
                struct interval *interval = get_id(series, id);
                if (!interval)
                        return -ENOMEM;
                int64_t from = max_int64(reading->start_ns, id * series->interval_ns);
                int64_t upto =
                    id == last ? reading->end_ns : (id + 1) * series->interval_ns;
                add_part(interval, reading, (double)(upto - from) / length);
        }
        series->first_ns = min_int64(series->first_ns, reading->start_ns);
        series->last_ns = max_int64(series->last_ns, reading->end_ns);
        return 0;
}

void interval_span(const struct interval_series *series, int64_t id, int64_t *start_ns,
                   int64_t *end_ns)
{
        *start_ns = id * series->interval_ns;
        if (__builtin_add_overflow(*start_ns, series->interval_ns, end_ns))
                *end_ns = INT64_MAX;
        if (!series->count)
                return;
        if (id == series->intervals[0].id)
                *start_ns = max_int64(*start_ns, series->first_ns);
        if (id == series->intervals[series->count - 1].id)
                *end_ns = min_int64(*end_ns, series->last_ns);
}

static double ratio(double numerator, double denominator)
{
        return denominator > 0 ? numerator / denominator : NAN;
}

static double miss_loads(const double gained[CONCEPT_COUNT])
{
        if (!isnan(gained[CONCEPT_L1_MISS_ANY]))
                return gained[CONCEPT_L1_MISS_ANY];
        return gained[CONCEPT_L1_MISS] + gained[CONCEPT_FB_HIT];
}

/* A counter that the CPU lacks adds nothing. */
static double or_zero(double count)
{
        return isnan(count) ? 0 : count;
}

static double memory_stalls(const double gained[CONCEPT_COUNT])
{
        if (isnan(gained[CONCEPT_STALLS_L1D]))
                return NAN;
        return fmin(gained[CONCEPT_CYCLES], fmax(or_zero(gained[CONCEPT_STORE_BUFFER]),
                                                 gained[CONCEPT_STALLS_L1D]));
}

static double buffers_full(const double gained[CONCEPT_COUNT])
{
        return gained[CONCEPT_FB_FULL] + or_zero(gained[CONCEPT_SQ_FULL]);
}

static double bandwidth_stalls(const double gained[CONCEPT_COUNT])
{
        double full = buffers_full(gained);
        if (isnan(full))
                return NAN;
        return fmin(memory_stalls(gained),
                    fmax(or_zero(gained[CONCEPT_STORE_BUFFER]), full));
}

/* Stalls during a miss of one cache, while the NEXT cache had the line. */
static double stalls_between(const double gained[CONCEPT_COUNT], enum concept missed,
                             enum concept next)
{
        double stalls = gained[missed] - gained[next];
        return isnan(stalls) ? NAN : fmax(0, stalls);
}

struct interval_metrics interval_metrics(const struct interval *interval,
                                         const bool known[CONCEPT_COUNT],
                                         double clock_mhz)
{
        double gained[CONCEPT_COUNT];
        for (int c = 0; c < CONCEPT_COUNT; c++)
                gained[c] = known[c] ? interval->gained[c] : NAN;

        double duration_ns = (double)(interval->end_ns - interval->start_ns);
        double core_cycles = clock_mhz * 1e-3 * duration_ns;
        double cycles = gained[CONCEPT_CYCLES];
        double pending = gained[CONCEPT_PENDING];
        double memory_cycles = known[CONCEPT_CYCLES] && known[CONCEPT_PENDING]
                                   ? interval->memory_cycles
                                   : NAN;
        return (struct interval_metrics){
            .miss_loads = miss_loads(gained),
            .lmrl_cycles = ratio(pending, miss_loads(gained)),
            .l1_miss_latency_cycles = ratio(pending, gained[CONCEPT_L1_MISS]),
            .fb_full_ratio = ratio(gained[CONCEPT_FB_FULL], cycles),
            .full_cycles_per_line =
                ratio(gained[CONCEPT_FB_FULL] * LINE_BYTES,
                      fmax(gained[CONCEPT_DRAM_READ], gained[CONCEPT_DRAM_WRITE])),
            .buffers_full_ratio = ratio(buffers_full(gained), cycles),
            .dram_lines_per_cycle =
                ratio(fmax(gained[CONCEPT_DRAM_READ], gained[CONCEPT_DRAM_WRITE]),
                      LINE_BYTES * cycles),
            .active_cores = ratio(memory_cycles, core_cycles),
            .read_gbs = ratio(gained[CONCEPT_DRAM_READ], duration_ns),
            .write_gbs = ratio(gained[CONCEPT_DRAM_WRITE], duration_ns),
            .used_cores = ratio(cycles, core_cycles),
            .pending_ratio = ratio(pending, cycles),
            .instructions_per_cycle = ratio(gained[CONCEPT_INSTRUCTIONS], cycles),
            .memory_stall_ratio = ratio(memory_stalls(gained), cycles),
            .bandwidth_stall_ratio = ratio(bandwidth_stalls(gained), cycles),
            .kernel_ratio = ratio(or_zero(gained[CONCEPT_KERNEL_FAULT]) +
                                      or_zero(gained[CONCEPT_KERNEL_CALL]),
                                  cycles),
            .stall_ratio = ratio(gained[CONCEPT_STALLS], cycles),
            .l2_stall_ratio = ratio(
                stalls_between(gained, CONCEPT_STALLS_L1D, CONCEPT_STALLS_L2), cycles),
            .beyond_l2_stall_ratio = ratio(gained[CONCEPT_STALLS_L2], cycles),
            .l3_stall_ratio = ratio(
                stalls_between(gained, CONCEPT_STALLS_L2, CONCEPT_STALLS_L3), cycles),
            .dram_stall_ratio = ratio(gained[CONCEPT_STALLS_L3], cycles),
        };
}

void interval_limit_stalls(struct interval_metrics *metrics, double dram_latency_cycles)
{
        const double lines = metrics->dram_lines_per_cycle * dram_latency_cycles;
        double *memory = &metrics->memory_stall_ratio;
        double *bandwidth = &metrics->bandwidth_stall_ratio;
        if (isnan(*memory))
                return;
        *memory = fmin(*memory, metrics->sampled_stall_most);
        if (isnan(*bandwidth))
                return;
        if (!isnan(lines))
                *bandwidth = fmin(*bandwidth, fmax(metrics->buffers_full_ratio, lines));
        *bandwidth = fmin(*bandwidth, *memory);
}
