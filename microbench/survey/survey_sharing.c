/* SPDX-License-Identifier: MIT */
/* Survey of lines that another core has modified. */
#include <math.h>

#include "elapsed.h"
#include "interference.h"
#include "modified.h"
#include "reported.h"
#include "survey.h"

/* Per visit, some milliseconds in total. */
enum { ROUNDS = 200 };

struct sharing {
        size_t writer; /* index among the survey's CPUs; 0: none */
        struct visits visits;
};

/* Chooses the first CPU on another core that is like the loading CPU. */
static int sharing_open(struct survey *survey, void *state, struct diag *diag)
{
        struct sharing *sharing = state;
        const struct cpu_list *cpus = &survey->cpus;
        (void)diag;
        for (size_t i = 1; i < cpus->count && sharing->writer == 0; i++)
                if (reported_alike(cpus->cpus[0], cpus->cpus[i]) &&
                    !reported_one_core(cpus->cpus[0], cpus->cpus[i]))
                        sharing->writer = i;
        return 0;
}

/* Sets TOLD to false if the writer did not run. */
static int run_rounds(struct survey *survey, const struct sharing *sharing,
                      struct visit *visit, bool *told, struct diag *diag)
{
        const int *cpus = survey->cpus.cpus;
        const int ours[] = {cpus[0], cpus[sharing->writer]};
        struct modified_round rounds[ROUNDS];
        struct machine_time before, after;
        struct series all = {0};
        size_t finished;
        machine_time_read(ours, 2, &before);
        double seconds = clock_seconds();
        int rc = modified_lines(ours[1], rounds, ROUNDS, &finished, diag);
        seconds = clock_seconds() - seconds;
        machine_time_read(ours, 2, &after);
        *told = rc == 0 && finished > 0;
        if (!*told)
                return rc;
        bool shared = machine_was_shared(&before, &after, seconds) || finished < ROUNDS;
        for (size_t i = 0; i < finished; i++)
                series_add(&all, rounds[i].ns,
                           disturbance_of(rounds[i].disturbed, shared));
        *visit = survey_end_visit(survey, &all);
        return 0;
}

/* Whether a place other than together needs more visits: programs see such places too. A
 * writer other than the second CPU has no known place. */
static bool wants_place(const struct survey *survey, const struct sharing *sharing,
                        const struct stay *stay)
{
        struct series series;
        struct stay here = {stay->before, stay->before};
        if (sharing->writer != 1)
                return false;
        survey_read_visits(survey, &sharing->visits, survey_place(survey, &here),
                           &series);
        return series.count < survey->visits_min && !survey_is_late(survey);
}

/* Makes only some visits if the CPUs are not together. */
static int visit_lines(struct survey *survey, struct sharing *sharing, struct diag *diag)
{
        struct visits *visits = &sharing->visits;
        struct stay *stay = &visits->stays[visits->count];
        bool now, told;
        int rc = survey_arrive(survey, sharing->writer + 1, stay, &now, diag);
        if (rc < 0 || (!now && !wants_place(survey, sharing, stay)))
                return rc;
        rc = run_rounds(survey, sharing, &visits->visits[visits->count], &told, diag);
        if (rc == 0)
                rc = survey_depart(survey, sharing->writer + 1, stay, diag);
        visits->count += rc == 0 && told;
        return rc;
}

static int sharing_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct sharing *sharing = state;
        int rc = 0;
        if (sharing->writer == 0)
                return 0;
        survey_progress(survey, "lines that another CPU has modified");
        for (size_t i = 0; rc == 0 && i < survey->sweep_visits; i++)
                if (survey_wants_visit(survey, &sharing->visits))
                        rc = visit_lines(survey, sharing, diag);
        return rc;
}

/* Adds the result of visits in PLACE under KEY, if it is known for both CPUs. */
static void add_place(const struct survey *survey, const struct sharing *sharing,
                      enum place place, const char *key, json_t *json)
{
        double ns = survey_value_in(survey, &sharing->visits, sharing->writer, place);
        if (!isnan(ns))
                json_object_set_new(json, key, json_real(ns));
}

/* A pair that was never on two cores: its result says nothing about another core. */
static bool is_one_core(const struct survey *survey, const struct sharing *sharing)
{
        return survey->places && sharing->writer == 1 &&
               places_pair(survey->places, 0).always_one_core;
}

static json_t *sharing_result(struct survey *survey, void *state)
{
        static const char name[] = "the latency of modified lines";
        const struct sharing *sharing = state;
        struct series series;
        json_t *json = json_object();
        survey_read_visits(survey, &sharing->visits, PLACE_TOGETHER, &series);
        if (sharing->writer == 0)
                return json;
        if (is_one_core(survey, sharing)) {
                survey_leave_out(survey, "%s (the CPUs were on one core all the time)",
                                 name);
                return json;
        }
        add_place(survey, sharing, PLACE_ONE_CORE, "one_core_ns", json);
        add_place(survey, sharing, PLACE_APART, "apart_ns", json);
        json_object_set_new(json, "cpu", json_integer(survey->cpus.cpus[0]));
        json_object_set_new(json, "writer",
                            json_integer(survey->cpus.cpus[sharing->writer]));
        if (survey->far) {
                add_place(survey, sharing, PLACE_TOGETHER, "apart_ns", json);
                return json;
        }
        struct estimate estimate = survey_estimate(survey, &series);
        if (!survey_add(survey, json, "modified_ns", name, estimate))
                return json;
        json_object_set_new(json, "modified_cycles",
                            json_real(estimate.value * survey->core_ghz));
        json_object_set_new(json, "error", survey_number(estimate_error(&estimate)));
        return json;
}

const struct survey_part survey_sharing = {
    .key = "sharing",
    .several = true,
    .state_bytes = sizeof(struct sharing),
    .open = sharing_open,
    .sweep = sharing_sweep,
    .result = sharing_result,
};
