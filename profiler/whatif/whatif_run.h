/* SPDX-License-Identifier: MIT */
/* Records the command again, on changed machines, several at a time. */
#ifndef MEMLAG_WHATIF_RUN_H
#define MEMLAG_WHATIF_RUN_H

#include <signal.h>
#include <sys/types.h>

#include "record_options.h"
#include "whatif_fix.h"

/* One more run of the command. */
struct whatif_run {
        struct whatif_fix fix;
        char *file;   /* the database that it makes */
        pid_t pid;    /* 0: it does not run */
        int messages; /* messages of the run and the command; -1: not yet */
        int status;   /* that the recorder ended with; -1: not yet */
};

/* How the runs are made. */
struct whatif_setting {
        const struct record_options *options; /* of the first recording */
        off_t input_place; /* initial offset of its standard input, a file; -1: no file */
        size_t at_once;    /* runs at a time */
        /* The actions of SIGPIPE and SIGCHLD before the first recording. */
        struct sigaction on_pipe, on_child;
};

/* Executes all COUNT of RUNS with their fixes, each into its file. The command gets the
 * same standard input; its standard output is lost, and its standard error goes to
 * RUN->messages. Returns 0, or the number of the signal that asked memlag to end: then
 * all runs have ended. A negative errno value: the runs could not be started. */
int whatif_run_all(const struct whatif_setting *setting, struct whatif_run *runs,
                   size_t count, struct diag *diag);

/* Returns the last line of RUN's own messages, which the caller frees; NULL: none. */
char *whatif_run_complaint(const struct whatif_run *run);

/* Removes the file too. */
void whatif_run_free(struct whatif_run *run);

#endif
