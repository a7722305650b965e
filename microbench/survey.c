/* SPDX-License-Identifier: MIT */
/* What all parts of a survey share: rounds until an estimate is good, progress, and what
 * the system tells of its caches. */
#include "survey.h"

#include <hwloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "interference.h"

/* A visit is about a tick, in which the kernel's accounts of others change. */
static const double VISIT_SECONDS = 0.012;

/* Of a CPU, for a thread that never waits: less was taken by others. */
static const double UNDISTURBED_PART = 0.98;

static const uint64_t MEMORY_SIZE_MIN = UINT64_C(64) << 20;
static const uint64_t MEMORY_SIZE_MAX = UINT64_C(1) << 30;

void survey_progress(const struct survey *survey, const char *format, ...)
{
        if (!survey->progress)
                return;
        va_list arguments;
        va_start(arguments, format);
        fputs("\r\033[K", stderr);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fflush(stderr);
}

bool survey_is_late(const struct survey *survey)
{
        return clock_seconds() > survey->end_seconds;
}

/* ---- rounds ---- */

static void add_round(struct survey *survey, struct series *series, double ns,
                      enum disturbance disturbance)
{
        series_add(series, ns, disturbance);
        survey->rounds++;
        survey->disturbed += disturbance != UNDISTURBED;
}

void survey_visit(struct survey *survey, struct chase *chase, const struct load *load,
                  struct series *series)
{
        enum { ROUNDS_MAX = 32 };
        struct chase_time times[ROUNDS_MAX];
        struct machine_time before, after;
        uint32_t loaders = load_thread_count(load);
        size_t rounds = (size_t)(VISIT_SECONDS / survey->round_seconds);
        rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
        if (chase->parameters.size_bytes <= survey->data_bytes / 4)
                chase_warm(chase);
        double ns = chase_time(chase, 1000).ns;
        uint64_t steps = (uint64_t)(survey->round_seconds * 1e9 / ns) + 1000;
        machine_time_read(survey->cpus.cpus, loaders + 1, &before);
        double load_seconds = load_cpu_seconds(load), begin = clock_seconds();
        for (size_t i = 0; i < rounds; i++)
                times[i] = chase_time(chase, steps);
        double seconds = clock_seconds() - begin;
        load_seconds = load_cpu_seconds(load) - load_seconds;
        machine_time_read(survey->cpus.cpus, loaders + 1, &after);
        bool shared = machine_was_shared(&before, &after, seconds) ||
                      load_seconds < UNDISTURBED_PART * seconds * loaders;
        for (size_t i = 0; i < rounds; i++)
                add_round(survey, series, times[i].ns,
                          times[i].disturbed ? INTERRUPTED
                          : shared           ? SHARED
                                             : UNDISTURBED);
}

void survey_noise(struct survey *survey, double error)
{
        survey->worst_error = fmax(survey->worst_error, error);
}

struct estimate survey_estimate(struct survey *survey, const struct series *series)
{
        struct estimate estimate = series_estimate(series);
        survey->estimates++;
        survey->unclean += !series_is_clean(series);
        return estimate;
}

struct estimate survey_shortest(struct survey *survey, const struct series *series)
{
        struct estimate estimate = survey_estimate(survey, series);
        if (!series_is_clean(series))
                estimate.value = estimate.least;
        return estimate;
}

/* Whether more visits would tell little more. */
static bool is_enough(const struct survey *survey, const struct series *series)
{
        size_t disturbed = series->counts[SHARED] + series->counts[INTERRUPTED];
        if (series->counts[UNDISTURBED] >= survey->rounds_max ||
            disturbed >= 2 * survey->rounds_max)
                return true;
        if (!series_is_clean(series))
                return false;
        struct estimate estimate = series_estimate(series);
        return estimate_error(&estimate) <= survey->error_aim;
}

int survey_chases(struct survey *survey, struct chase *chases, size_t count,
                  size_t visits_min, struct estimate *estimates, struct diag *diag)
{
        struct series *series = calloc(count, sizeof(*series));
        double end = clock_seconds() + survey->estimate_seconds * (double)count;
        bool more = true;
        if (!series)
                return diag_no_memory(diag);
        for (size_t visit = 0; more; visit++) {
                bool late = survey_is_late(survey);
                more = false;
                for (size_t i = 0; i < count; i++) {
                        if (visit >= visits_min && is_enough(survey, &series[i]))
                                continue;
                        survey_visit(survey, &chases[i], NULL, &series[i]);
                        survey->hurried += late;
                        more = true;
                }
                if (late || (visit >= visits_min && clock_seconds() > end))
                        break;
        }
        for (size_t i = 0; i < count; i++)
                estimates[i] = survey_shortest(survey, &series[i]);
        free(series);
        return 0;
}

int survey_rounds(struct survey *survey, const struct kernel *kernel,
                  const struct kernel_parameters *parameters, size_t count, double units,
                  struct series *series, struct diag *diag)
{
        enum { ROUNDS_MAX = 32 };
        struct measurement rounds[ROUNDS_MAX];
        count = count < ROUNDS_MAX ? count : ROUNDS_MAX;
        int rc = measure(kernel, parameters, &survey->cpus, rounds, count, diag);
        if (rc < 0)
                return rc;
        for (size_t i = 0; i < count; i++)
                add_round(survey, series, rounds[i].seconds * 1e9 / units,
                          rounds[i].disturbance);
        return 0;
}

/* ---- what the system tells ------------------------------------------------------------
 */

static int attributes_of(unsigned level, struct hwloc_cache_attr_s *attributes)
{
        static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
                                                 HWLOC_OBJ_L3CACHE};
        hwloc_topology_t topology;
        int found = 0;
        if (level < 1 || level > 3 || hwloc_topology_init(&topology) != 0)
                return 0;
        hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
        if (hwloc_topology_load(topology) == 0) {
                hwloc_obj_t object = hwloc_get_obj_by_type(topology, types[level - 1], 0);
                if (object) {
                        *attributes = object->attr->cache;
                        found = 1;
                }
        }
        hwloc_topology_destroy(topology);
        return found;
}

uint64_t reported_cache_bytes(unsigned level)
{
        struct hwloc_cache_attr_s attributes;
        return attributes_of(level, &attributes) ? attributes.size : 0;
}

unsigned reported_cache_ways(unsigned level)
{
        struct hwloc_cache_attr_s attributes;
        return attributes_of(level, &attributes) && attributes.associativity > 0
                   ? (unsigned)attributes.associativity
                   : 0;
}

uint64_t survey_data_bytes(uint64_t memory_bytes)
{
        uint64_t last = reported_cache_bytes(3);
        uint64_t size = 8 * last;
        if (size < MEMORY_SIZE_MIN)
                size = MEMORY_SIZE_MIN;
        if (size > MEMORY_SIZE_MAX)
                size = MEMORY_SIZE_MAX;
        if (size > memory_bytes / 4)
                size = memory_bytes / 4;
        return size & ~(uint64_t)4095;
}
