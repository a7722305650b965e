/* SPDX-License-Identifier: MIT */
/* Survey of the core's window: the number of instructions in flight, and how many can
 * wait for a value. */
#include <errno.h>
#include <math.h>

#include "survey.h"
#include "window_loads.h"

static const struct {
        const char *key, *name;
} kinds[WINDOW_KINDS] = {
    [WINDOW_IN_FLIGHT] = {"in_flight", "the instructions in flight"},
    [WINDOW_GENERAL] = {"waiting", "the instructions that may wait for a value"},
    [WINDOW_VECTOR] = {"vectors_waiting", "the vector instructions that may wait"},
    [WINDOW_ADDRESS] = {"addresses_waiting", "the loads that may wait for an address"},
    [WINDOW_GENERAL_AND_VECTOR] = {"waiting_with_vectors",
                                   "the instructions of both kinds that may wait"},
    [WINDOW_GENERAL_AND_ADDRESS] = {"waiting_with_addresses",
                                    "the instructions and loads that may wait"},
};

struct window {
        struct window_loads loads;
        struct series instructions[WINDOW_KINDS];
        bool refused; /* the system forbids code generated at run time */
};

/* The largest power of two whose double fits the survey's data. */
static uint64_t bytes_of_each(const struct survey *survey)
{
        uint64_t bytes = 1 << 20;
        while (4 * bytes <= survey->data_bytes)
                bytes *= 2;
        return bytes;
}

static int visit(struct window *window, struct diag *diag)
{
        for (enum window_kind kind = 0; kind < WINDOW_KINDS; kind++) {
                unsigned instructions;
                int rc = window_loads_find(&window->loads, kind, &instructions, diag);
                if (rc < 0)
                        return rc;
                series_add(&window->instructions[kind], instructions, UNDISTURBED);
        }
        return 0;
}

static int window_sweep(struct survey *survey, void *state, struct diag *diag)
{
        struct window *window = state;
        if (!survey->reaches_memory || window->refused ||
            !survey_wants(survey, &window->instructions[WINDOW_IN_FLIGHT], false))
                return 0;
        survey_progress(survey, "the window");
        int rc = window_loads_make(&window->loads, bytes_of_each(survey), diag);
        for (size_t i = 0; rc == 0 && i < survey->sweep_visits; i++)
                rc = visit(window, diag);
        window_loads_free(&window->loads);
        window->refused = rc == -EACCES;
        return window->refused ? 0 : rc;
}

static json_t *window_result(struct survey *survey, void *state)
{
        struct window *window = state;
        json_t *json = json_object();
        if (window->refused)
                survey_leave_out(survey, "the window (this system does not let a program "
                                         "run code that it makes)");
        if (window->refused || !survey->reaches_memory)
                return json;
        for (enum window_kind kind = 0; kind < WINDOW_KINDS; kind++) {
                survey_add(survey, json, kinds[kind].key, kinds[kind].name,
                           survey_estimate(survey, &window->instructions[kind]));
        }
        return json;
}

const struct survey_part survey_window = {
    .key = "window",
    .state_bytes = sizeof(struct window),
    .sweep = window_sweep,
    .result = window_result,
};
