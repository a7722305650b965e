/* SPDX-License-Identifier: MIT */
/* The facts about an imported recording. */
#ifndef MEMLAG_IMPORT_FACTS_H
#define MEMLAG_IMPORT_FACTS_H

#include "db.h"
#include "perf_data.h"

/* Stores the machine properties of DATA, which was read to its end. */
int import_facts_machine(const struct perf_data *data, struct writer *writer,
                         struct diag *diag);

/* Stores the run's properties and DATA's list of build-ids, after the writer was closed.
 * BASE_TIME: the recording's clock at time 0; NULL when no record has a time. */
int import_facts(const struct perf_data *data, struct db *db, const uint64_t *base_time,
                 struct diag *diag);

#endif
