/* SPDX-License-Identifier: MIT */
/* Which functions, files and lines are to be annotated. */
#ifndef MEMLAG_ANNOTATE_CHOICE_H
#define MEMLAG_ANNOTATE_CHOICE_H

#include <stdint.h>

#include "db.h"

/* Chooses what TEXT, the argument number ORDER, names: the functions of that name, or
 * those that fit it as a shell pattern, or FILE, FILE:LINE or FILE:FIRST-LAST. -ENOENT
 * with a message when no sample was there. */
int choice_add(struct db *db, const char *text, int64_t order, struct diag *diag);

/* Chooses the COUNT functions that come first in reports. */
int choice_hottest(struct db *db, int64_t count, struct diag *diag);

#endif
