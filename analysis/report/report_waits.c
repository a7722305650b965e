/* SPDX-License-Identifier: MIT */
/* Notes below the table about samples that waited for outstanding cache lines: who
 * requested these lines first, if known. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "statement.h"

/* Another line requested most of the cache lines that this line waits for: in most waits,
 * it was the function's latest requester of the same data. */
#define ASKED_FOR                                                                        \
        "share >= 0.9 AND verdict NOT IN ('none', 'too-few-samples', 'cache', 'tlb')"

/* Shown lines, grouped by their first requester, with the table's names. Code without a
 * line gets its function's name. */
/* clang-format off */
static const char askers_sql[] =
    "WITH top AS (SELECT * FROM" REPORT_TOP_LINES "),"
    " pair AS (SELECT line_id, asker_id, latency_share FROM top"
    "  JOIN line_asker_finding AS f USING (line_id) WHERE " ASKED_FOR "),"
    " named AS (SELECT line_id, iif(file IS NULL," REPORT_FUNCTION_NAME ","
    REPORT_PLACE("file", "line") ") AS place"
    "  FROM (SELECT *," REPORT_BASE("file") "AS base FROM line_finding"
    "        WHERE line_id IN (SELECT line_id FROM top UNION SELECT asker_id FROM pair))) "
    "SELECT group_concat(waiting, ', ') || coalesce(' for the load at ' || asking,"
    "                                               ' for a load of another function, or a prefetch')"
    " FROM (SELECT l.place AS waiting, a.place AS asking, asker_id, latency_share"
    "  FROM pair JOIN named AS l USING (line_id)"
    "  LEFT JOIN named AS a ON a.line_id = asker_id"
    "  ORDER BY latency_share DESC, pair.line_id)"
    " GROUP BY asker_id ORDER BY max(latency_share) DESC, asker_id";
/* clang-format on */

static int say_askers(struct db *db, const struct report_options *options, FILE *text,
                      struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(db, askers_sql, &rows, diag);
        if (code)
                return code;
        sqlite3_bind_int64(rows, 1, options->top);
        report_bind_choice(rows, &options->choice);
        const char *separator = "These lines wait for cache lines that another load "
                                "requested first (level LFB); make that load faster: ";
        const char *end = "";
        while ((code = statement_next(db, rows, diag)) > 0) {
                char *waits = statement_printable(rows, 0);
                fprintf(text, "%s%s", separator, waits ? waits : "");
                free(waits);
                separator = "; ";
                end = ".";
        }
        fputs(end, text);
        sqlite3_finalize(rows);
        return code;
}

static int explain_askers(struct db *db, const struct report_options *options, FILE *out,
                          struct diag *diag)
{
        char *sentence = NULL;
        size_t length;
        FILE *text = open_memstream(&sentence, &length);
        if (!text)
                return diag_no_memory(diag);
        int code = say_askers(db, options, text, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code && length > 0)
                prose_wrapped(out, sentence);
        free(sentence);
        return code;
}

/* A dram verdict with a DRAM column near 0 % looks wrong, but is right. Only the first
 * load of a line comes from DRAM; the others wait as long for the same line. */
int report_explain_waits(struct db *db, const struct report_options *options,
                         bool stalled, FILE *out, struct diag *diag)
{
        const struct report_kind *kind = options->kind;
        bool lines = strcmp(kind->name, "line") == 0;
        if (!kind->shown)
                return 0;
        int code = lines ? explain_askers(db, options, out, diag) : 0;
        char *sql = sqlite3_mprintf(
            "SELECT 1 FROM %s AS top WHERE (verdict = 'dram' OR verdict GLOB 'dram-*')"
            " AND 2 * dram_samples < level_samples%s LIMIT 1",
            kind->shown,
            lines ? " AND NOT EXISTS (SELECT 1 FROM line_asker_finding AS f"
                    "                 WHERE f.line_id = top.line_id AND " ASKED_FOR ")"
                  : "");
        sqlite3_stmt *row = NULL;
        if (!code)
                code =
                    sql ? statement_prepare(db, sql, &row, diag) : diag_no_memory(diag);
        sqlite3_free(sql);
        if (code)
                return code;
        sqlite3_bind_int64(row, 1, options->top);
        report_bind_choice(row, &options->choice);
        code = statement_next(db, row, diag);
        sqlite3_finalize(row);
        if (code > 0)
                prose_wrapped(
                    out,
                    stalled
                        ? "A small DRAM share with a dram verdict is normal: few long "
                          "waits decide, or loads wait for a line that an earlier load "
                          "requested (LFB)."
                        : "A small DRAM share with a dram verdict is normal: loads wait "
                          "for a line that an earlier load requested (LFB).");
        return code < 0 ? code : 0;
}
