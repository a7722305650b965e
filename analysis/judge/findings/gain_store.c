/* SPDX-License-Identifier: MIT */
/* The estimated gains as rows. */
#include <sqlite3.h>

#include "findings_pass.h"
#include "statement.h"

/* Share of the run's cycles; smaller gains get no row. */
static const double GAIN_MIN = 0.001;

struct gain_rows {
        struct db *db;
        const struct findings_pass *pass;
        sqlite3_stmt *insert;
        struct diag *diag;
};

/* LINE: -1 for the whole run, which has no in-time gain. */
static int store_gains_of(const struct gain_rows *rows, int64_t line,
                          const struct gain_tally *tally)
{
        const struct findings_input *input = rows->pass->input;
        int code = 0;
        for (int fix = 0; !code && fix < (line < 0 ? GAIN_IN_TIME : GAIN_COUNT); fix++) {
                struct share gain =
                    gain_share(tally, (enum gain_fix)fix, &rows->pass->whole,
                               input->loads_per_sample, input->total_cycles);
                if (!(gain.value >= GAIN_MIN))
                        continue;
                if (line < 0)
                        sqlite3_bind_null(rows->insert, 1);
                else
                        sqlite3_bind_int64(rows->insert, 1, line);
                sqlite3_bind_text(rows->insert, 2, gain_name((enum gain_fix)fix), -1,
                                  SQLITE_STATIC);
                sqlite3_bind_double(rows->insert, 3, gain.value);
                sqlite3_bind_double(rows->insert, 4, gain.low);
                sqlite3_bind_double(rows->insert, 5, gain.high);
                code = statement_run(rows->db, rows->insert, rows->diag);
        }
        return code;
}

/* A huge page has 2 MiB. */
#define HUGE_PAGE_SQL "2097152"

/* The walks of the objects that a huge page could hold a part of. */
static int store_objects(const struct gain_rows *rows)
{
        const struct findings_pass *pass = rows->pass;
        int code = 0;
        for (size_t i = 0; !code && i < pass->grouping.object_count; i++) {
                const struct share gain =
                    gain_share(&pass->object_gains[i + 1], GAIN_TRANSLATION, &pass->whole,
                               pass->input->loads_per_sample, pass->input->total_cycles);
                if (!(gain.value >= GAIN_MIN) || pass->grouping.objects[i].own)
                        continue;
                sqlite3_bind_int64(rows->insert, 1, pass->grouping.objects[i].object_id);
                sqlite3_bind_double(rows->insert, 2, gain.value);
                sqlite3_bind_double(rows->insert, 3, gain.low);
                sqlite3_bind_double(rows->insert, 4, gain.high);
                code = statement_run(rows->db, rows->insert, rows->diag);
        }
        return code;
}

int gains_store(struct db *db, const struct findings_pass *pass, struct diag *diag)
{
        struct gain_rows rows = {.db = db, .pass = pass, .diag = diag};
        if (!pass->gains)
                return 0;
        int code = statement_prepare(
            db, "INSERT INTO gain_finding VALUES (?, ?, ?, ?, ?, 'estimate')",
            &rows.insert, diag);
        if (code)
                return code;
        code = store_gains_of(&rows, -1, &pass->run_gains);
        for (size_t line = 0; !code && line < pass->grouping.line_groups; line++)
                code = store_gains_of(&rows, (int64_t)line, &pass->gains[line]);
        sqlite3_finalize(rows.insert);
        if (!code)
                code = statement_prepare(
                    db,
                    "INSERT INTO object_gain_finding SELECT object_id, 'hugepages', ?2,"
                    " ?3, ?4, 'estimate' FROM data_object WHERE object_id = ?1"
                    " AND size_bytes >= " HUGE_PAGE_SQL,
                    &rows.insert, diag);
        if (!code) {
                code = store_objects(&rows);
                sqlite3_finalize(rows.insert);
        }
        return code;
}
