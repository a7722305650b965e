/* SPDX-License-Identifier: MIT */
/* Notes on a model that differs from the recording machine: gains may differ, and when
 * this is likely. */
#include <sqlite3.h>
#include <stdlib.h>

#include "report.h"
#include "statement.h"

/* Objects with less of the cost do not count as hot data. */
#define HOT_SHARE_MIN "0.05"

static const char model_sql[] =
    "SELECT (SELECT value FROM run WHERE key = 'host_cpu'),"
    " (SELECT value FROM run WHERE key = 'sim_preset'),"
    " (SELECT CAST(value AS INTEGER) FROM run WHERE key = 'host_calibrated'),"
    " (SELECT value FROM machine WHERE key = 'l3_bytes') / 1048576,"
    " (SELECT value FROM machine WHERE key = 'host_l3_bytes') / 1048576,"
    " (SELECT sum(size_bytes) FROM object_finding JOIN data_object USING (object_id)"
    "  WHERE coalesce(stalled_ratio, latency_share) >= " HOT_SHARE_MIN
    "  OR latency_share >= " HOT_SHARE_MIN ") / 1048576.0";

/* Hot data fits the model's last cache, but not the machine's. */
static void say_unlike(FILE *text, double hot_mib, double model_mib, double host_mib)
{
        if (host_mib > 0 && hot_mib <= model_mib && hot_mib > host_mib)
                fprintf(
                    text,
                    " They probably do: the costliest objects take %.1f MiB, which "
                    "fit the model's L3 (%.1f MiB), but not the machine's (%.1f MiB).",
                    hot_mib, model_mib, host_mib);
}

static void say_model(FILE *text, sqlite3_stmt *row)
{
        char *cpu = statement_printable(row, 0);
        char *preset = statement_printable(row, 1);
        fprintf(text,
                "Simulated CPU: %s. The machine that recorded is %s, where gains may "
                "differ. To model it: %s'memlag record --sim-cpu host'.",
                preset ? preset : "?", cpu ? cpu : "?",
                sqlite3_column_int(row, 2)
                    ? ""
                    : "'memlag calibrate' (three minutes; --quick half a minute), then ");
        say_unlike(text, sqlite3_column_double(row, 5), sqlite3_column_double(row, 3),
                   sqlite3_column_double(row, 4));
        free(cpu);
        free(preset);
}

int report_model_note(struct db *db, char **note, struct diag *diag)
{
        sqlite3_stmt *row = NULL;
        size_t length;
        *note = NULL;
        int code = statement_first(db, model_sql, &row, diag);
        if (code > 0 && sqlite3_column_type(row, 0) != SQLITE_NULL) {
                FILE *text = open_memstream(note, &length);
                if (text)
                        say_model(text, row);
                if (!text || fclose(text))
                        code = diag_no_memory(diag);
        }
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}
