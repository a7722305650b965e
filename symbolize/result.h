/* SPDX-License-Identifier: MIT */
/* Writing what was found: the tables of names, and the ledger of what is missing. */
#ifndef MEMLAG_SYMBOLIZE_RESULT_H
#define MEMLAG_SYMBOLIZE_RESULT_H

#include "object.h"
#include "sample_type.h"

struct result {
        const struct raw *raw;
        const struct sweep *sweep;
        const struct code_frames *frames;
        const struct objects *objects;
        const struct sample_types *sample_types;
        const struct types *types;
        struct string_pool *names; /* fields that no sample met get theirs here */
};

/* Replaces the rows of this stage, inside the caller's transaction. 0 or a negative
 * errno value. */
int result_write(const struct result *result, struct db *db, struct diag *diag);

#endif
