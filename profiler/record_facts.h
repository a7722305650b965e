/* SPDX-License-Identifier: MIT */
/* What the sample database says about a recording as a whole: the table run, and the
 * ledger of what the source and the sink found missing. */
#ifndef MEMLAG_RECORD_FACTS_H
#define MEMLAG_RECORD_FACTS_H

#include "launch.h"
#include "record_options.h"
#include "sink.h"

/* What is known before the start. */
int record_facts_begin(struct db *db, const struct record_options *options,
                       const struct source_ops *ops, struct diag *diag);

/* What is known after the last event. END: how the command ended; NULL: there was none.
 * FAILURE: why something of the run is not in the database; NULL: nothing is missing. */
int record_facts_end(struct db *db, const struct sink *sink, const struct launch_end *end,
                     const char *failure, struct diag *diag);

#endif
