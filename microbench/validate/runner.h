/* SPDX-License-Identifier: MIT */
/* Runs trials and counts events, of this machine's PMU or the simulated one. */
#ifndef MEMLAG_RUNNER_H
#define MEMLAG_RUNNER_H

#include "diag.h"
#include "trial.h"

enum { RUNNER_ROUNDS_MAX = 9 };

struct candidate {
        char *name;
        enum concept concept; /* CONCEPT_COUNT: not known */
        bool recorded;        /* `memlag record` uses it */
        bool wanted;          /* to be validated */
};

/* An event's increments in a pass of a trial, in the concept's unit: lines, not bytes. */
struct gained {
        double rounds[RUNNER_ROUNDS_MAX];
        size_t count; /* 0: not countable */
};

struct runner;

struct runner_ops {
        /* Fills GAINED, one element per candidate, and *CYCLES, the cycles of a pass. */
        int (*run)(struct runner *runner, const struct trial *trial,
                   struct gained *gained, double *cycles, struct diag *diag);
        void (*close)(struct runner *runner);
};

/* Base of all runners. */
struct runner {
        const struct runner_ops *ops;
        struct trial_sizes sizes;
        struct candidate *candidates; /* runner_free_candidates frees them */
        size_t count;
};

/* Options for opening a runner, which adds its candidates. Close *RUNNER with ops->close.
 * EVENTS is NULL-terminated, or NULL: names of further events. ALL: adds the events that
 * libpfm4 describes as memory events. */
struct sim_runner_options {
        const char *cpu;        /* NULL: the default */
        const char *prefetch;   /* as in record --sim-prefetch */
        const char *const *set; /* see --sim-set, NULL-terminated; NULL: none */
};
int runner_open_sim(const struct sim_runner_options *options, struct runner **runner,
                    struct diag *diag);
int runner_open_perf(const char *const *events, bool all, struct runner **runner,
                     struct diag *diag);

/* Adds a wanted candidate; NAME determines its concept. */
int runner_add_candidate(struct runner *runner, const char *name, bool recorded,
                         struct diag *diag);
void runner_free_candidates(struct runner *runner);

#endif
