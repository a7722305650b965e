/* SPDX-License-Identifier: MIT */
/* How many samples got a line, function, stack, object and type, and the reasons for the
 * others. For each of the five the counts add up to all samples. */
#ifndef MEMLAG_SYMBOLIZE_RESOLUTION_H
#define MEMLAG_SYMBOLIZE_RESOLUTION_H

#include "object.h"
#include "sample_type.h"

enum subject {
        SUBJECT_LINE,
        SUBJECT_FUNCTION,
        SUBJECT_STACK,
        SUBJECT_OBJECT,
        SUBJECT_TYPE,
        SUBJECT_COUNT
};

struct outcome {
        const char *reason;
        uint64_t samples;
};

enum { OUTCOME_LIMIT = 32 }; /* more than there are reasons; the last has none */

_Static_assert((int)UNTYPED_COUNT < (int)OUTCOME_LIMIT,
               "room for all reasons without a type");

struct resolution {
        const struct sweep *sweep;
        struct outcome outcomes[SUBJECT_COUNT][OUTCOME_LIMIT];
        int64_t unverified; /* samples in files without a recorded build-id */
        uint64_t frameless; /* samples on a stack without a known frame */
};

/* Counts for all samples the names of their places and stacks. The places of SWEEP have
 * been named. 0 or -ENOMEM. */
int resolution_open(struct resolution *resolution, const struct sweep *sweep);
/* Counts SAMPLES whose address is in OBJECT (NULL: they have none). */
void resolution_count(struct resolution *resolution, const struct object *object,
                      enum untyped type, uint64_t samples);
/* Writes the table resolution, which is empty, and the ledger. 0 or a negative errno
 * value. */
int resolution_write(struct resolution *resolution, struct db *db, struct diag *diag);

#endif
