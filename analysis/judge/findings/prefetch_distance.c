/* SPDX-License-Identifier: MIT */
/* See prefetch_distance.h. */
#include "prefetch_distance.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "findings_pass.h"
#include "statement.h"

bool prefetch_is_possible(const char *pattern)
{
        static const char *const known[] = {"stride", "computed", "index"};
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
                if (strcmp(known[i], pattern) == 0)
                        return true;
        return false;
}

int64_t prefetch_distance(double latency_cycles, int64_t instructions,
                          const struct machine_facts *machine)
{
        const double shortest = (double)instructions / machine->issue_width;
        const double lines = machine->l1d_bytes / machine->line_bytes;
        if (!(latency_cycles > 0) || !(shortest > 0) || !(lines >= 2))
                return 0;
        return (int64_t)fmin(ceil(latency_cycles / shortest), floor(lines / 2));
}

/* ROW: pattern and instructions of an iteration. */
static int store_one(struct db *db, const struct findings_pass *pass, sqlite3_stmt *row,
                     const struct pair *place, const struct requests *requests,
                     sqlite3_stmt *insert, struct diag *diag)
{
        const double latency = requests->latency_cycles / (double)requests->samples;
        /* Fewer samples tell little of a mean latency. */
        const int64_t distance =
            requests->samples >= VERDICT_SAMPLES_MIN &&
                    prefetch_is_possible(statement_text(row, 0))
                ? prefetch_distance(latency, sqlite3_column_int64(row, 1),
                                    &pass->input->machine)
                : 0;
        sqlite3_bind_int64(insert, 1, place->second);
        sqlite3_bind_int64(insert, 2, place->first);
        sqlite3_bind_int64(insert, 3, requests->samples);
        sqlite3_bind_double(insert, 4, latency);
        if (distance)
                sqlite3_bind_int64(insert, 5, distance);
        else
                sqlite3_bind_null(insert, 5);
        return statement_run(db, insert, diag);
}

int prefetch_store(struct db *db, struct findings_pass *pass, struct diag *diag)
{
        sqlite3_stmt *pattern = NULL, *insert = NULL;
        int code = statement_prepare(db,
                                     "SELECT pattern, iteration_instructions"
                                     " FROM access_pattern WHERE location_id = ?",
                                     &pattern, diag);
        if (!code)
                code = statement_prepare(
                    db, "INSERT INTO prefetch_finding VALUES (?, ?, ?, ?, ?)", &insert,
                    diag);
        if (!code && pairs_sort(&pass->requests))
                code = diag_no_memory(diag);
        for (size_t i = 0; !code && i < pass->requests.count; i++) {
                const struct pair *place = &pass->requests.pairs[i];
                sqlite3_bind_int64(pattern, 1, place->second);
                code = statement_next(db, pattern, diag);
                if (code > 0)
                        code = store_one(db, pass, pattern, place,
                                         pairs_value(&pass->requests, i), insert, diag);
                sqlite3_reset(pattern);
        }
        sqlite3_finalize(pattern);
        sqlite3_finalize(insert);
        return code;
}
