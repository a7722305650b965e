/* SPDX-License-Identifier: MIT */
/* Names that a database has, and that would be lost if they were made again: the file
 * that they came from is another now, or gone. */
#ifndef MEMLAG_SYMBOLIZE_LOST_NAMES_H
#define MEMLAG_SYMBOLIZE_LOST_NAMES_H

#include <stdbool.h>

#include "module_file.h"
#include "symbolize.h"

/* Notes how much of each module is named in DB, and from what, before that is cleared;
 * *ANY: something is. Inside the caller's transaction, as all. 0 or a negative errno
 * value. */
int lost_names_note(struct db *db, bool *any, struct diag *diag);

/* Compares what is named now with the note. -ESTALE, with what to do about it, when a
 * module has fewer names since its files are not those that they were made from; fewer
 * from the same files are no loss. FILES: where modules are looked for. */
int lost_names_check(struct db *db, const struct module_search *files, struct diag *diag);

#endif
