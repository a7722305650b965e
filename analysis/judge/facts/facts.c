/* SPDX-License-Identifier: MIT */
/* Reads the raw tables for analysis. Judges nothing. */
#include "facts.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "statement.h"

/* ---- the machine ---- */

/* A fact by its key, with the offsets of its value and origin. */
struct machine_field {
        const char *key;
        size_t value, origin; /* offsets */
};

static const struct machine_field machine_fields[] = {
#define MACHINE_FIELD(key)                                                               \
        {#key, offsetof(struct machine_facts, key),                                      \
         offsetof(struct machine_origins, key)},
    MACHINE_FACTS(MACHINE_FIELD)
#undef MACHINE_FIELD
};
enum { MACHINE_FIELDS = sizeof(machine_fields) / sizeof(machine_fields[0]) };

static double *value_of(struct machine_facts *machine, const struct machine_field *field)
{
        return (double *)((char *)machine + field->value);
}

static char **origin_of(struct machine_origins *origins,
                        const struct machine_field *field)
{
        return (char **)((char *)origins + field->origin);
}

/* Takes one row; the first row of a key counts. */
static int take_fact(sqlite3_stmt *row, struct machine_facts *machine,
                     struct machine_origins *origins, struct diag *diag)
{
        for (size_t i = 0; i < MACHINE_FIELDS; i++) {
                const struct machine_field *field = &machine_fields[i];
                char **origin = origin_of(origins, field);
                if (*origin || strcmp(field->key, statement_text(row, 0)) != 0)
                        continue;
                *value_of(machine, field) = sqlite3_column_double(row, 1);
                *origin = strdup(statement_text(row, 2));
                return *origin ? 0 : diag_no_memory(diag);
        }
        return 0;
}

int facts_machine(struct db *db, struct machine_facts *machine,
                  struct machine_origins *origins, struct diag *diag)
{
        *origins = (struct machine_origins){0};
        for (size_t i = 0; i < MACHINE_FIELDS; i++)
                *value_of(machine, &machine_fields[i]) = NAN;
        sqlite3_stmt *rows;
        int code = statement_prepare(
            db, "SELECT key, value, origin FROM machine WHERE value > 0 ORDER BY key",
            &rows, diag);
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0)
                code = take_fact(rows, machine, origins, diag);
        sqlite3_finalize(rows);
        return code;
}

void machine_origins_free(struct machine_origins *origins)
{
        for (size_t i = 0; i < MACHINE_FIELDS; i++)
                free(*origin_of(origins, &machine_fields[i]));
}

bool facts_without_waits(struct db *db)
{
        char *detail = db_run_text(db, "sim_detail");
        bool without = detail && strcmp(detail, "cache") == 0;
        free(detail);
        return without;
}

/* ---- the counters ---- */

struct counter_meaning {
        int64_t counter_id;
        enum concept concept;
};

/* Counters by id; the caller frees the array. */
static int read_counters(struct db *db, struct counter_meaning **meanings, size_t *count,
                         bool known[CONCEPT_COUNT], struct diag *diag)
{
        *meanings = NULL;
        *count = 0;
        sqlite3_stmt *rows;
        int code = statement_prepare(
            db,
            "SELECT counter_id, coalesce(stands_for, name) FROM counter "
            "ORDER BY counter_id",
            &rows, diag);
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                enum concept concept = counter_concept(statement_text(rows, 1));
                code = 0;
                if (concept == CONCEPT_NONE)
                        continue;
                struct counter_meaning *grown =
                    reallocarray(*meanings, *count + 1, sizeof(*grown));
                if (!grown) {
                        code = diag_no_memory(diag);
                        break;
                }
                *meanings = grown;
                grown[(*count)++] =
                    (struct counter_meaning){sqlite3_column_int64(rows, 0), concept};
                known[concept] = true;
        }
        sqlite3_finalize(rows);
        return code;
}

static enum concept meaning_of(const struct counter_meaning *meanings, size_t count,
                               int64_t counter_id)
{
        for (size_t i = 0; i < count; i++)
                if (meanings[i].counter_id == counter_id) {
                        return meanings[i].concept;
                }
        return CONCEPT_NONE;
}

/* Adds READING, a complete one, to the series. */
static int add_reading(struct run_counters *counters,
                       const struct thread_reading *reading, struct diag *diag)
{
        int code = interval_series_add(&counters->series, reading);
        if (code == -EINVAL) {
                counters->impossible_readings++;
                return 0;
        }
        counters->total_cycles += reading->gained[CONCEPT_CYCLES];
        return code ? diag_set(diag, code, "no memory for the intervals") : 0;
}

/* The table's order groups one thread's counter values of one span. */
static int read_readings(struct db *db, const struct counter_meaning *meanings,
                         size_t meaning_count, struct run_counters *counters,
                         struct diag *diag)
{
        sqlite3_stmt *rows;
        int code =
            statement_prepare(db,
                              "SELECT start_ns, end_ns, thread_id, counter_id, value "
                              "FROM reading ORDER BY start_ns, thread_id, counter_id",
                              &rows, diag);
        struct thread_reading reading = {0};
        int64_t thread_id = 0;
        bool any = false;
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                int64_t start_ns = sqlite3_column_int64(rows, 0);
                int64_t end_ns = sqlite3_column_int64(rows, 1);
                code = 0;
                if (any && (start_ns != reading.start_ns || end_ns != reading.end_ns ||
                            sqlite3_column_int64(rows, 2) != thread_id)) {
                        code = add_reading(counters, &reading, diag);
                        any = false;
                }
                if (!any)
                        reading = (struct thread_reading){.start_ns = start_ns,
                                                          .end_ns = end_ns};
                any = true;
                thread_id = sqlite3_column_int64(rows, 2);
                enum concept concept =
                    meaning_of(meanings, meaning_count, sqlite3_column_int64(rows, 3));
                if (concept != CONCEPT_NONE)
                        reading.gained[concept] += sqlite3_column_double(rows, 4);
        }
        sqlite3_finalize(rows);
        return code == 0 && any ? add_reading(counters, &reading, diag) : code;
}

static void set_spans(struct interval_series *series)
{
        for (size_t i = 0; i < series->count; i++) {
                struct interval *interval = &series->intervals[i];
                interval_span(series, interval->id, &interval->start_ns,
                              &interval->end_ns);
        }
}

int facts_counters(struct db *db, struct run_counters *counters, struct diag *diag)
{
        *counters = (struct run_counters){0};
        int64_t interval_ns = db_run_int(db, "interval_ns", 0);
        interval_series_init(&counters->series, interval_ns);
        if (interval_ns <= 0)
                return 0;
        struct counter_meaning *meanings;
        size_t count;
        int code = read_counters(db, &meanings, &count, counters->known, diag);
        if (!code)
                code = read_readings(db, meanings, count, counters, diag);
        free(meanings);
        if (!counters->known[CONCEPT_CYCLES])
                counters->total_cycles = NAN;
        set_spans(&counters->series);
        if (code)
                facts_counters_free(counters);
        return code;
}

void facts_counters_free(struct run_counters *counters)
{
        interval_series_free(&counters->series);
}
