/* SPDX-License-Identifier: MIT */
/* The table data_source in memory, with its words as enum values: every sample looks up
 * its row. */
#include "data_sources.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "statement.h"

/* perf_mem_data_src marks a load that could not take its data from the store buffer
 * (PERF_MEM_BLK_DATA in linux/perf_event.h). */
static bool is_unforwarded(uint64_t raw)
{
        const unsigned blocked_shift = 40, blocked_data = 2;
        return (raw >> blocked_shift & blocked_data) != 0;
}

static int take_source(void *context, sqlite3_stmt *row)
{
        struct data_sources *sources = context;
        if (array_reserve(&sources->sources, &sources->capacity, sources->count,
                          sizeof(*sources->sources)) < 0)
                return -ENOMEM;
        const bool store = strcmp(statement_text(row, 4), "store") == 0;
        sources->sources[sources->count++] = (struct data_source){
            .id = sqlite3_column_int64(row, 0),
            .level = level_named(statement_text(row, 1)),
            .of_memory = strcmp(statement_text(row, 1), "NA") != 0 ||
                         strcmp(statement_text(row, 4), "NA") != 0,
            .tlb_missed = strcmp(statement_text(row, 2), "miss") == 0,
            .tlb_second = strcmp(statement_text(row, 2), "stlb") == 0,
            .store = store,
            .locked = sqlite3_column_int(row, 6) == 1,
            .hit_modified = strcmp(statement_text(row, 3), "hitm") == 0 ||
                            /* A store invalidates the line in other cores. */
                            (store && strcmp(statement_text(row, 3), "hit") == 0),
            .unforwarded = is_unforwarded((uint64_t)sqlite3_column_int64(row, 5)),
        };
        return 0;
}

int data_sources_read(struct db *db, struct data_sources *sources, struct diag *diag)
{
        *sources = (struct data_sources){0};
        return statement_each(db,
                              "SELECT data_source_id, level, tlb, snoop, op, raw, locked "
                              "FROM data_source ORDER BY data_source_id",
                              take_source, sources, diag);
}

void data_sources_free(struct data_sources *sources)
{
        free(sources->sources);
}

static int compare_source(const void *id, const void *source)
{
        int64_t a = *(const int64_t *)id, b = ((const struct data_source *)source)->id;
        return (a > b) - (a < b);
}

const struct data_source *data_sources_find(const struct data_sources *sources,
                                            int64_t id)
{
        static const struct data_source none = {.level = LEVEL_NA};
        if (!sources->count)
                return &none;
        const struct data_source *source = bsearch(&id, sources->sources, sources->count,
                                                   sizeof(*source), compare_source);
        return source ? source : &none;
}

const struct data_source *data_sources_of_row(const struct data_sources *sources,
                                              sqlite3_stmt *row, int column)
{
        bool has_source = sqlite3_column_type(row, column) != SQLITE_NULL;
        const struct data_source *source =
            data_sources_find(sources, sqlite3_column_int64(row, column));
        bool of_memory =
            has_source ? source->of_memory : sqlite3_column_int(row, column + 1) != 0;
        return of_memory ? source : NULL;
}
