/* SPDX-License-Identifier: MIT */
/* What the samples' data sources say, by data_source_id. */
#ifndef MEMLAG_DATA_SOURCES_H
#define MEMLAG_DATA_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db.h"
#include "verdict.h"

/* What a statement over samples s selects for data_sources_of_row, in SQL. */
#define DATA_SOURCE_COLUMNS "s.data_source_id, s.addr IS NOT NULL"

struct sqlite3_stmt;

struct data_source {
        int64_t id;
        enum level level;
        bool of_memory; /* it does not say that there was no access */
        bool tlb_missed;
        bool tlb_second; /* its second level had the translation */
        bool unforwarded; /* a store before the load had only a part of its bytes */
        bool hit_modified;
};

/* Zero-initialised: empty. */
struct data_sources {
        struct data_source *sources; /* by id */
        size_t count;
        size_t capacity;
};

/* Reads the table. 0 or a negative errno value; freed by data_sources_free in any case.
 */
int data_sources_read(struct db *db, struct data_sources *sources, struct diag *diag);
void data_sources_free(struct data_sources *sources);

/* That of ID; where there is none, one that says nothing. Valid until the table is freed.
 */
const struct data_source *data_sources_find(const struct data_sources *sources,
                                            int64_t id);

/* That of the sample whose DATA_SOURCE_COLUMNS begin at COLUMN of ROW; NULL: the sample
 * is none of memory, as STATEMENT_MEMORY_SAMPLES has them. */
const struct data_source *data_sources_of_row(const struct data_sources *sources,
                                              struct sqlite3_stmt *row, int column);

/* Whether any is of LEVEL. */
bool data_sources_have(const struct data_sources *sources, enum level level);

#endif
