/* SPDX-License-Identifier: MIT */
/* Shared code of all parts of a survey: sweeps until the figures are good enough, visits,
 * progress, data sizes. */
#include "survey.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "elapsed.h"
#include "interference.h"
#include "reported.h"

/* A visit takes about a tick, the resolution of the kernel's CPU accounting. */
static const double VISIT_SECONDS = 0.012;

/* Figures are known if the visits of both halves of the time agree within DRIFT_LIMIT,
 * and if the confidence interval is narrower than ERROR_LIMIT on either side. */
static const double DRIFT_LIMIT = 0.05, ERROR_LIMIT = 0.1;

/* Share of a CPU for a thread that never waits; with less, others used the CPU. */
static const double UNDISTURBED_PART = 0.98;

/* Extra share of the total time for figures without a visit because the CPUs were apart.
 */
static const double WAITING = 1.0 / 7;

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

/* Also ends visits to figures with few visits. */
static bool is_over(const struct survey *survey)
{
        return clock_seconds() > survey->over_seconds;
}

/* ---- visits ---- */

/* With fewer visits a figure is not known. */
static size_t few(const struct survey *survey)
{
        return survey->quick ? 1 : DRIFT_ROUNDS_MIN;
}

bool survey_wants(const struct survey *survey, const struct series *series, bool figure)
{
        size_t visits = series->count;
        if (is_over(survey))
                return false;
        if (survey_is_late(survey))
                return visits < few(survey);
        if (visits < survey->visits_min)
                return true;
        if (!figure || visits >= SERIES_MAX)
                return false;
        struct estimate estimate = series_estimate(series);
        return estimate.disturbance != UNDISTURBED ||
               !(estimate_error(&estimate) <= survey->error_aim) ||
               !survey_repeats(survey, &estimate);
}

/* All ROUNDS of a visit give one value: consecutive rounds see the same tenants, and
 * would agree better than separate visits. */
struct visit survey_end_visit(struct survey *survey, const struct series *rounds)
{
        struct estimate estimate = series_estimate(rounds);
        survey->rounds += rounds->count;
        for (size_t i = 0; i < rounds->count; i++)
                survey->disturbed += rounds->disturbances[i] != UNDISTURBED;
        survey->visits++;
        return (struct visit){estimate.value, estimate.disturbance};
}

void survey_add_visit(struct survey *survey, const struct series *rounds,
                      struct series *series)
{
        struct visit visit = survey_end_visit(survey, rounds);
        series_add(series, visit.value, visit.disturbance);
}

/* Whether a thread's data stays in caches of its core, which other CPUs do not disturb,
 * with the entries that walks to lines of different pages read. */
static bool is_private(const struct survey *survey,
                       const struct kernel_parameters *parameters)
{
        enum { PAGE_BYTES = 4096, LINES_OF_PAGE = 4 };
        uint64_t bytes = parameters->size_bytes, stride = parameters->stride_bytes;
        if (stride >= PAGE_BYTES)
                bytes = bytes / stride * LINES_OF_PAGE * KERNEL_LINE_BYTES;
        return parameters->threads <= 1 && bytes < survey->private_bytes;
}

void survey_visit(struct survey *survey, chase_timer *timer, struct chase *chase,
                  const struct load *load, struct series *series)
{
        enum { ROUNDS_MAX = 32 };
        struct chase_time times[ROUNDS_MAX];
        struct machine_time before, after;
        struct series all = {0};
        uint32_t loaders = load_thread_count(load);
        size_t rounds = (size_t)(VISIT_SECONDS / survey->round_seconds);
        rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
        if (chase->parameters.size_bytes <= survey->data_bytes / 4)
                chase_warm(chase);
        double ns = chase_time(chase, 1000).step;
        uint64_t steps = (uint64_t)(survey->round_seconds * 1e9 / ns) + 1000;
        machine_time_read(survey->cpus.cpus, loaders + 1, &before);
        double load_seconds = load_cpu_seconds(load), begin = clock_seconds();
        for (size_t i = 0; i < rounds; i++)
                times[i] = timer(chase, steps);
        double seconds = clock_seconds() - begin;
        load_seconds = load_cpu_seconds(load) - load_seconds;
        machine_time_read(survey->cpus.cpus, loaders + 1, &after);
        bool shared = (!is_private(survey, &chase->parameters) &&
                       machine_was_shared(&before, &after, seconds)) ||
                      load_seconds < UNDISTURBED_PART * seconds * loaders;
        for (size_t i = 0; i < rounds; i++)
                series_add(&all, times[i].step,
                           disturbance_of(times[i].disturbed, shared));
        survey_add_visit(survey, &all, series);
}

void survey_chases(struct survey *survey, chase_timer *timer, struct chase *chases,
                   size_t count, struct series *const *series)
{
        for (size_t visit = 0; visit < survey->sweep_visits; visit++)
                for (size_t i = 0; i < count; i++)
                        if (!survey_is_late(survey) ||
                            (series[i]->count < few(survey) && !is_over(survey)))
                                survey_visit(survey, timer, &chases[i], NULL, series[i]);
}

int survey_rounds(struct survey *survey, const struct kernel *kernel,
                  const struct kernel_parameters *parameters, size_t count, double units,
                  struct visit *visit, struct diag *diag)
{
        enum { ROUNDS_MAX = 32 };
        struct measurement rounds[ROUNDS_MAX];
        struct series all = {0};
        count = count < ROUNDS_MAX ? count : ROUNDS_MAX;
        int rc = measure(kernel, parameters, &survey->cpus, rounds, count, diag);
        if (rc < 0)
                return rc;
        bool private = is_private(survey, parameters);
        for (size_t i = 0; i < count; i++)
                series_add(&all, rounds[i].seconds * 1e9 / units,
                           private && rounds[i].disturbance == SHARED
                               ? UNDISTURBED
                               : rounds[i].disturbance);
        *visit = survey_end_visit(survey, &all);
        return 0;
}

static double code_seconds(void (*run)(uint64_t repeats), uint64_t repeats)
{
        double begin = clock_seconds();
        run(repeats);
        return clock_seconds() - begin;
}

void survey_code(struct survey *survey, void (*run)(uint64_t repeats), double units,
                 struct series *series)
{
        enum { ROUNDS = 32, TRIED = 20 };
        double least = INFINITY;
        struct series all = {0};
        double tried = code_seconds(run, TRIED) / TRIED;
        uint64_t repeats = (uint64_t)(VISIT_SECONDS / ROUNDS / tried) + 1;
        for (size_t i = 0; i < ROUNDS; i++) {
                long switches = interference_switches();
                double seconds = code_seconds(run, repeats);
                double ns = seconds * 1e9 / ((double)repeats * units);
                least = fmin(least, ns);
                series_add(&all, ns,
                           interference_switches() == switches ? UNDISTURBED
                                                               : INTERRUPTED);
        }
        series_add(series, least, survey_end_visit(survey, &all).disturbance);
}

/* ---- places ---- */

static int read_places(struct survey *survey, size_t cpus, size_t *reading,
                       struct diag *diag)
{
        *reading = PLACES_UNREAD;
        return survey->places && cpus > 1
                   ? places_read(survey->places, cpus, reading, diag)
                   : 0;
}

static enum place place_of(const struct survey *survey, size_t reading)
{
        return survey->places ? places_of(survey->places, reading) : PLACE_TOGETHER;
}

int survey_arrive(struct survey *survey, size_t cpus, struct stay *stay, bool *now,
                  struct diag *diag)
{
        int rc = read_places(survey, cpus, &stay->before, diag);
        *now = rc == 0 && place_of(survey, stay->before) == PLACE_TOGETHER;
        survey->waits |= !*now;
        survey->waited |= !*now;
        return rc;
}

int survey_depart(struct survey *survey, size_t cpus, struct stay *stay,
                  struct diag *diag)
{
        return read_places(survey, cpus, &stay->after, diag);
}

enum place survey_place(const struct survey *survey, const struct stay *stay)
{
        enum place before = place_of(survey, stay->before);
        return before == place_of(survey, stay->after) ? before : PLACES;
}

bool survey_stayed(const struct survey *survey, const struct stay *stay)
{
        return survey_place(survey, stay) == PLACE_TOGETHER;
}

void survey_read_visits(const struct survey *survey, const struct visits *visits,
                        enum place place, struct series *series)
{
        *series = (struct series){0};
        for (size_t i = 0; i < visits->count; i++)
                if (survey_place(survey, &visits->stays[i]) == place)
                        series_add(series, visits->visits[i].value,
                                   visits->visits[i].disturbance);
}

double survey_value_in(const struct survey *survey, const struct visits *visits,
                       size_t other, enum place place)
{
        struct series series;
        survey_read_visits(survey, visits, place, &series);
        struct estimate estimate = series_estimate(&series);
        return other == 1 && survey_repeats(survey, &estimate) ? estimate.value : NAN;
}

bool survey_wants_visit(const struct survey *survey, const struct visits *visits)
{
        struct series series;
        survey_read_visits(survey, visits, PLACE_TOGETHER, &series);
        return visits->count < SERIES_MAX && survey_wants(survey, &series, true);
}

/* ---- what the visits say ---- */

void survey_noise(struct survey *survey, double error, const char *format, ...)
{
        /* An unknown error may exceed all known errors. */
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

json_t *survey_number(double value)
{
        return isnan(value) ? json_null() : json_real(value);
}

struct estimate survey_estimate(struct survey *survey, const struct series *series)
{
        struct estimate estimate = series_estimate(series);
        survey->estimates++;
        survey->unclean += estimate.disturbance != UNDISTURBED;
        survey->hurried += series->count < survey->visits_min;
        return estimate;
}

bool survey_repeats(const struct survey *survey, const struct estimate *estimate)
{
        if (estimate->disturbance != UNDISTURBED || estimate->rounds < few(survey))
                return false;
        return estimate->rounds < DRIFT_ROUNDS_MIN ||
               (estimate_drift(estimate) <= DRIFT_LIMIT &&
                estimate_error(estimate) <= ERROR_LIMIT);
}

double survey_known(struct survey *survey, const struct estimate *estimate,
                    const char *format, ...)
{
        char name[64];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(name, sizeof(name), format, arguments);
        va_end(arguments);
        double drift = estimate_drift(estimate);
        double error = estimate_error(estimate);
        bool known = survey_repeats(survey, estimate) && estimate->value > 0;
        if (known)
                survey_noise(survey, error, "%s", name);
        else if (survey_repeats(survey, estimate))
                survey_leave_out(survey, "%s (a difference of times of %.2f)", name,
                                 estimate->value);
        else if (isnan(drift) || estimate->disturbance != UNDISTURBED)
                json_array_append_new(survey->unvisited, json_string(name));
        else
                json_array_append_new(
                    survey->drifted,
                    json_sprintf("%s (%.0f %%)", name, 100 * fmax(drift, 2 * error)));
        return known ? estimate->value : NAN;
}

bool survey_add(struct survey *survey, json_t *json, const char *key, const char *name,
                struct estimate estimate)
{
        double value = survey_known(survey, &estimate, "%s", name);
        return !isnan(value) && json_object_set_new(json, key, json_real(value)) == 0;
}

/* ---- sweeps ---- */

/* The parts, with the share of the total time after which each first visit should end. */
static const struct {
        const struct survey_part *part;
        double end;
} parts[] = {
    {&survey_clocks, 0.05},  {&survey_caches, 0.35},   {&survey_memory, 0.4},
    {&survey_tenants, 0.5},  {&survey_tlb, 0.6},       {&survey_core, 0.65},
    {&survey_window, 0.655}, {&survey_sets, 0.66},     {&survey_arithmetic, 0.66},
    {&survey_kernel, 0.67},  {&survey_bandwidth, 0.8}, {&survey_sharing, 0.82},
    {&survey_loaded, 1},
};

enum { SURVEY_PARTS = sizeof(parts) / sizeof(parts[0]) };

static int first_sweep(struct survey *survey, void *const *states, double begin,
                       struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < SURVEY_PARTS; i++) {
                survey->end_seconds = begin + parts[i].end * survey->seconds;
                survey->over_seconds = begin + parts[i].end * survey->last_seconds;
                rc = parts[i].part->sweep(survey, states[i], diag);
        }
        return rc;
}

/* Visits part INDEX. On CPUs that move, parts with several CPUs are visited after each
 * other part: the time for such visits may be short. */
static int sweep_part(struct survey *survey, void *const *states, size_t index,
                      struct diag *diag)
{
        int rc = parts[index].part->sweep(survey, states[index], diag);
        if (!survey->waited || parts[index].part->several)
                return rc;
        survey->between = true;
        for (size_t i = 0; rc == 0 && i < SURVEY_PARTS; i++)
                if (parts[i].part->several)
                        rc = parts[i].part->sweep(survey, states[i], diag);
        survey->between = false;
        return rc;
}

/* Whether to start another sweep: the last one made visits, or time remains for figures
 * that waited for the CPUs. */
static bool goes_on(const struct survey *survey)
{
        if (survey->waits)
                return clock_seconds() < survey->end_seconds + WAITING * survey->seconds;
        return survey->visits > 0 && !survey_is_late(survey);
}

static int more_sweeps(struct survey *survey, void *const *states, struct diag *diag)
{
        int rc = 0;
        do {
                survey->visits = 0;
                survey->waits = false;
                for (size_t i = 0; rc == 0 && i < SURVEY_PARTS; i++)
                        rc = sweep_part(survey, states, i, diag);
        } while (rc == 0 && goes_on(survey));
        return rc;
}

static int open_part(struct survey *survey, const struct survey_part *part, void **state,
                     struct diag *diag)
{
        *state = calloc(1, part->state_bytes);
        if (!*state)
                return diag_no_memory(diag);
        return part->open ? part->open(survey, *state, diag) : 0;
}

/* STATE is NULL after an error before open. */
static void close_part(const struct survey_part *part, void *state)
{
        if (state && part->close)
                part->close(state);
        free(state);
}

static int add_results(struct survey *survey, void *const *states, json_t *document,
                       struct diag *diag)
{
        for (size_t i = 0; i < SURVEY_PARTS; i++) {
                json_t *result = parts[i].part->result(survey, states[i]);
                if (json_object_set_new(document, parts[i].part->key, result) != 0)
                        return diag_no_memory(diag);
        }
        return 0;
}

int survey_run(struct survey *survey, json_t *document, struct diag *diag)
{
        void *states[SURVEY_PARTS] = {NULL};
        double begin = clock_seconds();
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < SURVEY_PARTS; i++)
                rc = open_part(survey, parts[i].part, &states[i], diag);
        if (rc == 0)
                rc = first_sweep(survey, states, begin, diag);
        if (rc == 0)
                rc = more_sweeps(survey, states, diag);
        if (rc == 0)
                rc = add_results(survey, states, document, diag);
        for (size_t i = 0; i < SURVEY_PARTS; i++)
                close_part(parts[i].part, states[i]);
        return rc;
}

int survey_run_loaded(struct survey *survey, json_t *document, const char *key,
                      struct diag *diag)
{
        const struct survey_part *part = &survey_loaded;
        void *state = NULL;
        int rc = open_part(survey, part, &state, diag);
        survey->end_seconds = clock_seconds() + survey->seconds / SURVEY_PARTS;
        survey->over_seconds = clock_seconds() + survey->last_seconds / SURVEY_PARTS;
        do {
                survey->visits = 0;
                survey->waits = false;
                if (rc == 0)
                        rc = part->sweep(survey, state, diag);
        } while (rc == 0 && goes_on(survey));
        if (rc == 0 &&
            json_object_set_new(document, key, part->result(survey, state)) != 0)
                rc = diag_no_memory(diag);
        close_part(part, state);
        return rc;
}

/* ---- how much data reaches memory ---- */

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
