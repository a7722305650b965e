/* SPDX-License-Identifier: MIT */
/* From a recording of perf to the raw rows of a sample database. */
#ifndef MEMLAG_IMPORT_H
#define MEMLAG_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "diag.h"

struct import_options {
        const char *input; /* "-": standard input */
        const char *output;
        bool force;   /* replace a database */
        bool partial; /* keep records before the damage */
        uint64_t interval_ns;
        const char *symfs; /* the root of the files that stacks go through, or NULL */
};

struct import_result {
        uint64_t samples;
        uint64_t memory_samples;
        struct diag no_memory; /* if there are no memory samples: the contents of the
                                  recording */
        bool damaged;       /* damaged, with partial set: DAMAGE describes the defect */
        struct diag damage; /* one line */
        bool has_warning;
        struct diag warning; /* about something that does not cost records */
};

/* Makes the database options->output. On error it does not exist, unless an older
 * database could not be replaced. DIAG names the input, and the position of damage. */
int import_run(const struct import_options *options, struct import_result *result,
               struct diag *diag);

#endif
