/* SPDX-License-Identifier: MIT */
/* Starts the target, passes signals on to it and learns how it ended. Knows neither
 * sources nor databases. While a launch is open, the signals that it passes on do
 * not end memlag; the target itself gets the mask and the dispositions that memlag
 * was started with. */
#ifndef MEMLAG_LAUNCH_H
#define MEMLAG_LAUNCH_H

#include <stdbool.h>

#include "diag.h"

struct launch;

/* From here on signals are held for the target. */
int launch_open(struct launch **launch, struct diag *diag);

/* Runs ARGV[0], an absolute path, with our working directory, descriptors (but for
 * those closed on exec) and process group. */
int launch_start(struct launch *launch, char *const argv[], char *const envp[],
                 struct diag *diag);

/* Polls readable when a signal came. */
int launch_signal_fd(const struct launch *launch);

/* Polls readable when the target has ended; -1 before the start. */
int launch_end_fd(const struct launch *launch);

/* Passes on the signals that came. Those of a terminal, and those that the target
 * itself sent to its group, have reached it already. */
void launch_forward(struct launch *launch);

struct launch_end {
        bool signalled;
        int status; /* exit status, or the signal's number */
};

/* How the target ended; waits for that. */
int launch_wait(struct launch *launch, struct launch_end *end, struct diag *diag);

/* Signals have their ordinary effect on memlag again. NULL is allowed. */
void launch_close(struct launch *launch);

#endif
