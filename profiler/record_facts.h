/* SPDX-License-Identifier: MIT */
/* Facts about a recording as a whole: the table run, and the ledger of losses that
 * source and sink found. */
#ifndef MEMLAG_RECORD_FACTS_H
#define MEMLAG_RECORD_FACTS_H

#include "launch.h"
#include "record_options.h"
#include "sink.h"

/* Stores the facts that are known before the start. */
int record_facts_begin(struct db *db, const struct record_options *options,
                       const struct source_ops *ops, struct diag *diag);

/* Stores the facts that are known after the last event. END: how the command ended;
 * NULL: no command. FAILURE: why the database is incomplete; NULL: it is complete. */
int record_facts_end(struct db *db, const struct sink *sink, const struct launch_end *end,
                     const char *failure, struct diag *diag);

#endif
