/* SPDX-License-Identifier: MIT */
/* Survey of L1 sets: the interval at which one set accepts lines, from L2 and from L3. */
#include <math.h>
#include <stdio.h>

#include "elapsed.h"
#include "interference.h"
#include "reported.h"
#include "set_loads.h"
#include "survey.h"

enum { FROM_L2, FROM_L3, SOURCES };

static const char *const names[SOURCES] = {"l2", "l3"};

struct sets {
        struct set_loads loads[SOURCES];          /* without pages: no such cache */
        struct series one[SOURCES], two[SOURCES]; /* cycles per load */
};

/* The lines of one L1 set share as many lines of L2 as L2's size has pages. For L2 hits,
 * they are half full. For L3 hits, the lines of two L1 sets overfill them four times
 * each. The data is a small part of L3, and stays there even if others use it. */
static int sets_open(struct survey *survey, void *state, struct diag *diag)
{
        enum { PAGE_BYTES = 4096 };
        struct sets *sets = state;
        uint64_t room = reported_cache_bytes(2) / PAGE_BYTES;
        const uint64_t pages[SOURCES] = {room / 2,
                                         reported_cache_bytes(3) ? 8 * room : 0};
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < SOURCES; i++)
                if (pages[i] > 0 && pages[i] * PAGE_BYTES <= survey->data_bytes)
                        rc = set_loads_make(&sets->loads[i], pages[i], diag);
        return rc;
}

static void sets_close(void *state)
{
        struct sets *sets = state;
        for (size_t i = 0; i < SOURCES; i++)
                set_loads_free(&sets->loads[i]);
}

static void visit(struct survey *survey, const struct set_loads *loads, bool one_set,
                  struct series *series)
{
        enum { ROUNDS = 16, ROUND_LOADS = 1 << 16 };
        uint64_t sweeps = 1 + ROUND_LOADS / loads->pages;
        double cycles[ROUNDS];
        bool switched[ROUNDS];
        struct machine_time before, after;
        struct series all = {0};
        (void)set_loads_cycles(loads, one_set, 1); /* fills the cache level */
        machine_time_read(survey->cpus.cpus, 1, &before);
        double begin = clock_seconds();
        for (size_t i = 0; i < ROUNDS; i++) {
                long switches = interference_switches();
                cycles[i] = set_loads_cycles(loads, one_set, sweeps);
                switched[i] = interference_switches() != switches;
        }
        double seconds = clock_seconds() - begin;
        machine_time_read(survey->cpus.cpus, 1, &after);
        bool shared = machine_was_shared(&before, &after, seconds);
        for (size_t i = 0; i < ROUNDS; i++)
                series_add(&all, cycles[i], disturbance_of(switched[i], shared));
        survey_add_visit(survey, &all, series);
}

static int sets_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct sets *sets = state;
        (void)diag;
        survey_progress(survey, "the sets of L1");
        for (size_t i = 0; i < SOURCES; i++) {
                if (sets->loads[i].pages == 0)
                        continue;
                if (survey_wants(survey, &sets->one[i], false))
                        visit(survey, &sets->loads[i], true, &sets->one[i]);
                if (survey_wants(survey, &sets->two[i], false))
                        visit(survey, &sets->loads[i], false, &sets->two[i]);
        }
        return 0;
}

static json_t *sets_result(struct survey *survey, void *state)
{
        struct sets *sets = state;
        json_t *json = json_object();
        for (size_t i = 0; i < SOURCES; i++) {
                char name[48];
                snprintf(name, sizeof(name), "l1d_sets.%s", names[i]);
                if (sets->loads[i].pages == 0)
                        continue;
                struct estimate one = survey_estimate(survey, &sets->one[i]);
                struct estimate two = survey_estimate(survey, &sets->two[i]);
                json_t *level = json_object();
                bool known = survey_add(survey, level, "one_set_cycles", name, one) &&
                             survey_add(survey, level, "two_sets_cycles", name, two);
                if (known)
                        json_object_set(json, names[i], level);
                json_decref(level);
        }
        return json;
}

const struct survey_part survey_sets = {
    .key = "l1d_sets",
    .state_bytes = sizeof(struct sets),
    .open = sets_open,
    .sweep = sets_sweep,
    .result = sets_result,
    .close = sets_close,
};
