/* SPDX-License-Identifier: MIT */
/* The decoded data source of each data_source_id. */
#ifndef MEMLAG_DATA_SOURCES_H
#define MEMLAG_DATA_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db.h"
#include "verdict.h"

/* SQL columns of sample s for data_sources_of_row. */
#define DATA_SOURCE_COLUMNS "s.data_source_id, s.addr IS NOT NULL"

/* SQL, whether a load waited for a store of the same low address bits, by the column raw
 * of data_source (PERF_MEM_BLK_ADDR in linux/perf_event.h). */
#define DATA_SOURCE_ALIASED " raw >> 40 & 7 = 4 "

struct sqlite3_stmt;

struct data_source {
        int64_t id;
        enum level level;
        bool of_memory; /* false: the sample states that it made no access */
        bool tlb_missed;
        bool tlb_second;  /* the second TLB level had the translation */
        bool unforwarded; /* an earlier store held only part of its bytes */
        bool hit_modified;
        bool store;
        bool locked;
};

/* Zero-initialised: empty. */
struct data_sources {
        struct data_source *sources; /* by id */
        size_t count;
        size_t capacity;
};

/* Reads the table. Returns 0 or a negative errno value; data_sources_free frees in any
 * case. */
int data_sources_read(struct db *db, struct data_sources *sources, struct diag *diag);
void data_sources_free(struct data_sources *sources);

/* The data source ID; an unknown ID gives an empty data source. Valid until the table is
 * freed. */
const struct data_source *data_sources_find(const struct data_sources *sources,
                                            int64_t id);

/* The data source of the sample whose DATA_SOURCE_COLUMNS begin at COLUMN of ROW. NULL:
 * not a memory sample (see STATEMENT_MEMORY_SAMPLES). */
const struct data_source *data_sources_of_row(const struct data_sources *sources,
                                              struct sqlite3_stmt *row, int column);

#endif
