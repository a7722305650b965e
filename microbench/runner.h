/* SPDX-License-Identifier: MIT */
/* Runs trials and counts events meanwhile: of this machine's PMU, or of the simulated
 * one. */
#ifndef MEMLAG_RUNNER_H
#define MEMLAG_RUNNER_H

#include "diag.h"
#include "trial.h"

enum { RUNNER_ROUNDS_MAX = 9 };

struct candidate {
        char *name;
        enum concept concept; /* CONCEPT_COUNT: not known */
        bool recorded;        /* `memlag record` would use it */
        bool wanted;          /* it is to be validated */
};

/* What an event gained in one pass of a trial, as the concept counts: lines, not bytes.
 */
struct gained {
        double rounds[RUNNER_ROUNDS_MAX];
        size_t count; /* 0: it could not be counted */
};

struct runner;

struct runner_ops {
        /* Fills GAINED, one for each candidate, and *CYCLES, those of a pass. */
        int (*run)(struct runner *runner, const struct trial *trial,
                   struct gained *gained, double *cycles, struct diag *diag);
        void (*close)(struct runner *runner);
};

/* What a runner has; each kind of them begins with it. */
struct runner {
        const struct runner_ops *ops;
        struct trial_sizes sizes;
        struct candidate *candidates; /* freed by runner_free_candidates */
        size_t count;
};

/* The runner's own candidates are those that there are; *RUNNER is closed by its
 * ops->close. EVENTS, NULL-terminated, may be NULL: events that it may not know of;
 * with ALL also those that libpfm4 says are about memory. */
struct sim_runner_options {
        const char *cpu;        /* NULL: the default */
        const char *prefetch;   /* as in record --sim-prefetch */
        const char *const *set; /* as in --sim-set, NULL-terminated; NULL: none */
};
int runner_open_sim(const struct sim_runner_options *options, struct runner **runner,
                    struct diag *diag);
int runner_open_perf(const char *const *events, bool all, struct runner **runner,
                     struct diag *diag);

/* Adds a candidate, which is wanted; its concept is known by its NAME. */
int runner_add_candidate(struct runner *runner, const char *name, bool recorded,
                         struct diag *diag);
void runner_free_candidates(struct runner *runner);

#endif
