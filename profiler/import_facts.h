/* SPDX-License-Identifier: MIT */
/* The facts about an imported recording. */
#ifndef MEMLAG_IMPORT_FACTS_H
#define MEMLAG_IMPORT_FACTS_H

#include "db.h"
#include "perf_data.h"

/* What DATA, which was read to its end, says about the machine. */
int import_facts_machine(const struct perf_data *data, struct writer *writer,
                         struct diag *diag);

/* What it says about the run, and the build-ids that it lists, once the writer is closed.
 * BASE_TIME: the recording's clock at time 0; NULL when no record has a time. */
int import_facts(const struct perf_data *data, struct db *db, const uint64_t *base_time,
                 struct diag *diag);

#endif
