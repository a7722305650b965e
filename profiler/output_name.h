/* SPDX-License-Identifier: MIT */
/* The name of the file that `memlag record` writes: patterns in the user's, and the rank
 * that a launcher of parallel jobs (MPI, Slurm) gave this process. */
#ifndef MEMLAG_OUTPUT_NAME_H
#define MEMLAG_OUTPUT_NAME_H

#include <stdbool.h>

#include "diag.h"

/* The default pattern without a rank. */
#define OUTPUT_NAME_DEFAULT "memlag.db"
/* The default for a process with a rank. */
#define OUTPUT_NAME_OF_RANK "memlag.%r.db"

/* The rank of this process in its job, as decimal digits from the environment, and the
 * variable's name; both NULL: no rank. ALONE: the job has no other process; the file's
 * name needs no rank. -EINVAL: the variable's value is no number. */
struct job_rank {
        const char *digits;
        const char *variable;
        bool alone;
};
int job_rank_read(struct job_rank *rank, struct diag *diag);

/* The file that PATTERN names: %r is RANK, %p the number of this process, %h the host,
 * %% a percent sign. The caller frees *FILE. -EINVAL: another pattern, or %r without a
 * rank. */
int output_name(const char *pattern, const struct job_rank *rank, char **file,
                struct diag *diag);

#endif
