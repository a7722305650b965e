/* SPDX-License-Identifier: MIT */
/* Refuses to replace the names in a database if fewer would come back, because the file
 * that they were made from has changed or is gone. */
#ifndef MEMLAG_SYMBOLIZE_LOST_NAMES_H
#define MEMLAG_SYMBOLIZE_LOST_NAMES_H

#include <stdbool.h>

#include "module_file.h"
#include "symbolize.h"

/* Before DB's names are cleared: notes how many names each module has, and their source
 * files. *ANY: there are names. Inside the caller's transaction, as all. 0 or a negative
 * errno value. */
int lost_names_note(struct db *db, bool *any, struct diag *diag);

/* Compares the names in DB with the note. -ESTALE, with the remedy, if a module has fewer
 * names and its files have changed. Fewer names from the same files are no loss. FILES:
 * where modules are looked for. */
int lost_names_check(struct db *db, const struct module_search *files, struct diag *diag);

#endif
