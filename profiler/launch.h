/* SPDX-License-Identifier: MIT */
/* Starts the target, passes signals on to it and learns how it ended. Knows neither
 * sources nor databases. While a launch is open, the signals that it passes on do
 * not end memlag; the target itself gets the mask and the dispositions that memlag
 * was started with. */
#ifndef MEMLAG_LAUNCH_H
#define MEMLAG_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "diag.h"

struct launch;

/* From here on, signals are retained for the target. */
int launch_open(struct launch **launch, struct diag *diag);

/* Makes the process that will run ARGV[0], looked up in $PATH. It inherits our working
 * directory, process group and descriptors without the close-on-exec flag. The process
 * waits. ARGV must stay valid until it started. */
int launch_prepare(struct launch *launch, char *const argv[], char *const envp[],
                   struct diag *diag);

/* Returns the waiting process, later the target's process; 0: there is none. */
pid_t launch_pid(const struct launch *launch);

/* Lets the process execute the program. -EINTR: a terminating signal had arrived
 * before. */
int launch_start(struct launch *launch, struct diag *diag);

/* Returns that signal; 0: none. NULL is allowed. */
int launch_early_signal(const struct launch *launch);

/* Returns true if the signal asks a program to end: SIGINT, SIGTERM, SIGHUP or
 * SIGQUIT. */
bool launch_ends_program(int signal_number);

/* Polls readable when a signal arrived. */
int launch_signal_fd(const struct launch *launch);

/* Polls readable when the target has ended; -1 before launch_prepare. */
int launch_end_fd(const struct launch *launch);

/* Forwards pending signals. Signals from a terminal, and signals that the target sent to
 * its group, have reached the target already. Stops memlag if the target has stopped.
 * Returns true if a signal asks memlag to end: there is no target, or launch_wait has
 * reported its end. */
bool launch_forward(struct launch *launch);

struct launch_end {
        bool signalled;
        int status; /* exit status, or the signal's number */
        /* CPU time of the target and of the children that it has waited for. */
        int64_t user_ns;
        int64_t kernel_ns;
};

/* How the target ended; waits for that. */
int launch_wait(struct launch *launch, struct launch_end *end, struct diag *diag);

/* Signals have their ordinary effect on memlag again. NULL is allowed. */
void launch_close(struct launch *launch);

#endif
