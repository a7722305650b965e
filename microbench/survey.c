/* SPDX-License-Identifier: MIT */
/* What all parts of a survey share: sweeps until their figures are good, visits,
 * progress, and what the system tells of its caches. */
#include "survey.h"

#include <errno.h>
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

/* ---- visits ---- */

bool survey_wants(const struct survey *survey, const struct series *series, bool figure)
{
        size_t visits = series_count(series);
        if (survey_is_late(survey))
                return visits == 0;
        if (visits < survey->visits_min)
                return true;
        if (!figure || visits >= SERIES_MAX)
                return false;
        struct estimate estimate = series_estimate(series);
        return series_disturbance(series) != UNDISTURBED ||
               !(estimate_error(&estimate) <= survey->error_aim);
}

/* What the ROUNDS of a visit say together is one value: rounds side by side have the same
 * neighbours, and would seem to agree more than the machine does with itself. */
static void add_visit(struct survey *survey, const struct series *rounds,
                      struct series *series)
{
        struct estimate estimate = series_estimate(rounds);
        series_add(series, estimate.value, series_disturbance(rounds));
        size_t count = series_count(rounds);
        survey->rounds += count;
        survey->disturbed += count - rounds->counts[UNDISTURBED];
        survey->visits++;
}

void survey_visit(struct survey *survey, struct chase *chase, const struct load *load,
                  struct series *series)
{
        enum { ROUNDS_MAX = 32 };
        struct chase_time times[ROUNDS_MAX];
        struct machine_time before, after;
        struct series visit = {0};
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
                series_add(&visit, times[i].ns,
                           times[i].disturbed ? INTERRUPTED
                           : shared           ? SHARED
                                              : UNDISTURBED);
        add_visit(survey, &visit, series);
}

void survey_chases(struct survey *survey, struct chase *chases, size_t count,
                   struct series *const *series)
{
        for (size_t visit = 0; visit < survey->sweep_visits; visit++)
                for (size_t i = 0; i < count; i++)
                        if (!survey_is_late(survey) || series_count(series[i]) == 0)
                                survey_visit(survey, &chases[i], NULL, series[i]);
}

int survey_rounds(struct survey *survey, const struct kernel *kernel,
                  const struct kernel_parameters *parameters, size_t count, double units,
                  struct series *series, struct diag *diag)
{
        enum { ROUNDS_MAX = 32 };
        struct measurement rounds[ROUNDS_MAX];
        struct series visit = {0};
        count = count < ROUNDS_MAX ? count : ROUNDS_MAX;
        int rc = measure(kernel, parameters, &survey->cpus, rounds, count, diag);
        if (rc < 0)
                return rc;
        for (size_t i = 0; i < count; i++)
                series_add(&visit, rounds[i].seconds * 1e9 / units,
                           rounds[i].disturbance);
        add_visit(survey, &visit, series);
        return 0;
}

/* ---- what the visits say ---- */

void survey_noise(struct survey *survey, double error, const char *format, ...)
{
        /* One that is unknown may be greater than all that are known. */
        if (isnan(survey->worst_error) || error <= survey->worst_error)
                return;
        va_list arguments;
        survey->worst_error = error;
        va_start(arguments, format);
        vsnprintf(survey->worst_figure, sizeof(survey->worst_figure), format, arguments);
        va_end(arguments);
}

void survey_leave_out(struct survey *survey, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        json_array_append_new(survey->left_out, json_vsprintf(format, arguments));
        va_end(arguments);
}

bool survey_trusts(struct survey *survey, const struct series *series, const char *name)
{
        if (!series_is_worthless(series))
                return true;
        survey_leave_out(survey, "%s (each of its few visits was interrupted)", name);
        return false;
}

json_t *survey_number(double value)
{
        return isnan(value) ? json_null() : json_real(value);
}

struct estimate survey_estimate(struct survey *survey, const struct series *series)
{
        struct estimate estimate = series_estimate(series);
        survey->estimates++;
        survey->unclean += series_disturbance(series) != UNDISTURBED;
        survey->hurried += series_count(series) < survey->visits_min;
        return estimate;
}

struct estimate survey_shortest(struct survey *survey, const struct series *series)
{
        struct estimate estimate = survey_estimate(survey, series);
        if (series_disturbance(series) != UNDISTURBED)
                estimate.value = estimate.least;
        return estimate;
}

/* ---- sweeps ---- */

/* The parts, and which share of all the time may be over when each has been visited for
 * the first time. */
static const struct {
        const struct survey_part *part;
        double end;
} parts[] = {
    {&survey_clocks, 0.05}, {&survey_caches, 0.4}, {&survey_memory, 0.45},
    {&survey_tlb, 0.6},     {&survey_core, 0.65},  {&survey_bandwidth, 0.8},
    {&survey_loaded, 1},
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static int first_sweep(struct survey *survey, void *const *states, double begin,
                       struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < PARTS; i++) {
                survey->end_seconds = begin + parts[i].end * survey->seconds;
                rc = parts[i].part->sweep(survey, states[i], diag);
        }
        return rc;
}

/* Until a sweep finds nothing left to visit. */
static int more_sweeps(struct survey *survey, void *const *states, struct diag *diag)
{
        int rc = 0;
        do {
                survey->visits = 0;
                for (size_t i = 0; rc == 0 && i < PARTS; i++)
                        rc = parts[i].part->sweep(survey, states[i], diag);
        } while (rc == 0 && survey->visits > 0 && !survey_is_late(survey));
        return rc;
}

static int add_results(struct survey *survey, void *const *states, json_t *document,
                       struct diag *diag)
{
        for (size_t i = 0; i < PARTS; i++) {
                json_t *result = parts[i].part->result(survey, states[i]);
                if (json_object_set_new(document, parts[i].part->key, result) != 0)
                        return diag_no_memory(diag);
        }
        return 0;
}

int survey_run(struct survey *survey, json_t *document, struct diag *diag)
{
        void *states[PARTS] = {NULL};
        double begin = clock_seconds();
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < PARTS; i++) {
                states[i] = parts[i].part->open(survey, diag);
                rc = states[i] ? 0 : -EIO;
        }
        if (rc == 0)
                rc = first_sweep(survey, states, begin, diag);
        if (rc == 0)
                rc = more_sweeps(survey, states, diag);
        if (rc == 0)
                rc = add_results(survey, states, document, diag);
        for (size_t i = 0; i < PARTS; i++)
                if (states[i])
                        parts[i].part->close(states[i]);
        return rc;
}

int survey_run_loaded(struct survey *survey, json_t *document, const char *key,
                      struct diag *diag)
{
        const struct survey_part *part = &survey_loaded;
        void *state = part->open(survey, diag);
        int rc = state ? 0 : -EIO;
        survey->end_seconds = clock_seconds() + survey->seconds / PARTS;
        do {
                survey->visits = 0;
                if (rc == 0)
                        rc = part->sweep(survey, state, diag);
        } while (rc == 0 && survey->visits > 0 && !survey_is_late(survey));
        if (rc == 0 &&
            json_object_set_new(document, key, part->result(survey, state)) != 0)
                rc = diag_no_memory(diag);
        if (state)
                part->close(state);
        return rc;
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

bool survey_reaches_memory(uint64_t data_bytes)
{
        uint64_t last = 0;
        for (unsigned level = 1; level <= 3; level++)
                if (reported_cache_bytes(level) > 0)
                        last = reported_cache_bytes(level);
        return data_bytes >= 2 * last;
}
