/* SPDX-License-Identifier: MIT */
/* Functions that are nowhere in a program optimised as a whole: neither have they code,
 * nor is any described by their entries. The code of another may be theirs, too. */
#ifndef MEMLAG_SYMBOLIZE_LOST_FUNCTIONS_H
#define MEMLAG_SYMBOLIZE_LOST_FUNCTIONS_H

#include "signature.h"
#include "unit_functions.h"

struct lost_functions {
        bool read;
        struct signature *items; /* their parameters and results */
        size_t count;
        size_t capacity;
};

/* Reads all units of FUNCTIONS, once. 0 or -ENOMEM. */
int lost_functions_read(struct lost_functions *lost, struct unit_functions *functions);

/* Whether one takes and returns what SIGNATURE says. */
bool lost_functions_have(const struct lost_functions *lost,
                         const struct signature *signature);

void lost_functions_free(struct lost_functions *lost);

#endif
