/* SPDX-License-Identifier: MIT */
/* Chooses the functions, files and lines to annotate. */
#ifndef MEMLAG_ANNOTATE_CHOICE_H
#define MEMLAG_ANNOTATE_CHOICE_H

#include <stdint.h>

#include "db.h"

/* Adds the choice TEXT, argument number ORDER: a function name or shell pattern, FILE,
 * FILE:LINE or FILE:FIRST-LAST. Returns -ENOENT with a message if no samples match. */
int choice_add(struct db *db, const char *text, int64_t order, struct diag *diag);

/* Chooses the first COUNT functions in report order. */
int choice_hottest(struct db *db, int64_t count, struct diag *diag);

#endif
