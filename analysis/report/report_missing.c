/* SPDX-License-Identifier: MIT */
/* The end of a report: gaps of the recording and its names, and remedies for missing
 * lines. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "statement.h"
#include "words.h"

/* The ledger, and with ?1 the loads without an address, which are in no row. */
/* clang-format off */
static const char missing_sql[] =
    "SELECT value, unit, kind, stage FROM ledger "
    "UNION ALL SELECT count(*), 'samples',"
    " 'samples of loads with no data address: no object, no type', 'record'"
    " FROM sample AS s JOIN sample_view AS v USING (sample_id)"
    " WHERE ?1 AND s.addr IS NULL AND v.object IS NULL"
    " AND iif((SELECT EXISTS (SELECT 1 FROM sample WHERE stall_ns > 0)),"
    "         s.stall_ns > 0, v.op = 'load') HAVING count(*) > 0 "
    "ORDER BY stage, kind";
/* clang-format on */

static bool needs_addresses(const struct report_kind *kind)
{
        return strcmp(kind->name, "object") == 0 || strcmp(kind->name, "type") == 0;
}

static int print_ledger(struct db *db, const struct report_kind *kind,
                        const struct report_summary *summary, FILE *out,
                        struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(db, missing_sql, &rows, diag);
        if (!code)
                sqlite3_bind_int(rows, 1, needs_addresses(kind));
        const char *heading =
            summary->selection
                ? "\nMissing (by record and symbolize: in the whole recording):\n"
                : "\nMissing:\n";
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                char *unit = statement_printable(rows, 1);
                char *what = statement_printable(rows, 2);
                char *stage = statement_printable(rows, 3);
                int64_t value = sqlite3_column_int64(rows, 0);
                size_t said = unit && what && strncmp(what, unit, strlen(unit)) == 0
                                  ? strlen(unit)
                                  : 0;
                fprintf(out, "%s  ", heading);
                prose_counted(out, value, unit ? unit : "");
                fprintf(out, "%s%s (%s)\n", said ? "" : ": ", what ? what + said : "",
                        stage ? stage : "");
                free(unit);
                free(what);
                free(stage);
                heading = "";
                code = 0;
        }
        if (summary->failure && !code)
                fprintf(out, "%s  the part of the run that the first lines tell of\n",
                        heading);
        else if (*heading && !code)
                fputs("\nMissing: nothing.\n", out);
        sqlite3_finalize(rows);
        return code;
}

/* Share of the latency; files with less need no remedy. */
#define FILE_SHARE_MIN "0.05"

/* ---- remedies ---- */

/* A sentence that is needed if the statement has a row: its one or two columns are the
 * texts for each %s. */
struct remedy {
        bool of_code, of_data; /* the kinds of report that need it; none: all do */
        const char *sentence;
        const char *sql;
};

/* clang-format off */
static const struct remedy remedies[] = {
    /* Servers that failed to deliver are no remedy; they know files by build-id. */
    {.of_code = true,
     .sentence = "For the lines of %s: %sinstall their debug information (Debian: packages "
                 "*-dbgsym, *-dbg) or build with -g, and then 'memlag symbolize' "
                 "(--debuginfo-path DIR where they lie elsewhere); debug files must have "
                 "the program's build-id, or without one be of the same build.",
     .sql = "SELECT group_concat(name || coalesce(' (build-id ' || build_id || ')', ''), ', '),"
            "  iif(count(build_id) AND NOT EXISTS (SELECT 1 FROM ledger"
            "       WHERE kind = 'debug files not delivered by servers'),"
            "      '''memlag symbolize --debuginfod'', or ', '')"
            " FROM (SELECT" REPORT_BASE("module") "AS name,"
            "  (SELECT iif(count(*) = 1, lower(hex(max(build_id))), NULL) FROM module"
            "   WHERE path = line_finding.module AND length(build_id) > 0) AS build_id"
            "  FROM line_finding WHERE file IS NULL AND module LIKE '/%'"
            "  AND EXISTS (SELECT 1 FROM ledger WHERE stage = 'symbolize'"
            "              AND kind IN ('samples with no line', 'samples with no symbol'))"
            "  GROUP BY module HAVING sum(latency_share) >= " FILE_SHARE_MIN
            "  ORDER BY sum(latency_share) DESC, module) HAVING count(*) > 0"},
    /* Files that changed or disappeared before names were made. */
    {.of_code = true,
     .sentence = "Names that only the recorded files have: %s. 'memlag symbolize' finds them "
                 "where copies are (--symfs DIR%s).",
     .sql = "SELECT group_concat(name || ' (' || iif(role = 'missing', 'not there', 'another file now')"
            "               || coalesce('; build-id ' || build_id, '') || ')', ', '),"
            "  iif(count(build_id), ', --build-id-dir DIR', '')"
            " FROM (SELECT" REPORT_BASE("f.module") "AS name, max(role) AS role,"
            "  max(iif(length(build_id) > 0, lower(hex(build_id)), NULL)) AS build_id"
            "  FROM line_finding AS f JOIN module AS m ON m.path = f.module"
            "  JOIN name_source USING (module_id)"
            "  WHERE function IS NULL AND role IN ('changed', 'foreign', 'missing')"
            "  AND f.module NOT LIKE '[%'"
            "  GROUP BY f.module HAVING sum(latency_share) >= " FILE_SHARE_MIN
            "  ORDER BY sum(latency_share) DESC, f.module) HAVING count(*) > 0"},
    {.of_code = true,
     .sentence = "For the names of [JIT code], which is in no file, let its compiler list "
                 "them in /tmp/perf-PID.map: node --perf-basic-prof, java "
                 "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, python3 -X perf, "
                 "DOTNET_PerfMapEnabled=1; LuaJIT has no such list.",
     .sql = "SELECT 1 WHERE (SELECT total(latency_share) FROM function_finding"
            "  WHERE module IS NULL AND function = '[JIT code]') >= " FILE_SHARE_MIN},
    {.of_data = true,
     .sentence = "Blocks of an allocator in a program's own file are seen by --source sim, or "
                 "where the program takes the allocator from a shared library.",
     .sql = "SELECT 1 FROM ledger WHERE kind = 'programs whose own allocator is not followed'"},
    {.sentence = "For types and inlined functions that are in a file made by dwz: install %s, "
                 "and then 'memlag symbolize' (--debuginfo-path DIR where DIR stands for "
                 "/usr/lib/debug); build-ids must be the same.",
     .sql = "SELECT group_concat(path, ', ')"
            " FROM (SELECT s.path FROM line_finding AS f JOIN module AS m ON m.path = f.module"
            "  JOIN name_source AS s USING (module_id)"
            "  WHERE s.role = 'dwz' AND s.size_bytes = 0 AND s.modified_ns = 0"
            "  AND EXISTS (SELECT 1 FROM ledger WHERE kind = 'dwz files not found or damaged')"
            "  GROUP BY s.path HAVING sum(f.latency_share) >= " FILE_SHARE_MIN
            "  ORDER BY sum(f.latency_share) DESC, s.path) HAVING count(*) > 0"},
};
/* clang-format on */

static int print_remedy(struct db *db, const struct remedy *remedy, FILE *out,
                        struct diag *diag)
{
        sqlite3_stmt *row;
        int code = statement_first(db, remedy->sql, &row, diag);
        if (code > 0) {
                char *first = statement_printable(row, 0);
                char *second =
                    sqlite3_column_count(row) > 1 ? statement_printable(row, 1) : NULL;
                char *sentence = sqlite3_mprintf(remedy->sentence, first, second);
                if (sentence)
                        prose_wrapped(out, sentence);
                sqlite3_free(sentence);
                free(second);
                free(first);
        }
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* Prints one line: where the ledger is, if it has anything. */
static int print_way_to_ledger(struct db *db, const char *file, bool failed, FILE *out,
                               struct diag *diag)
{
        static const char sql[] = "SELECT 1 FROM ledger WHERE value > 0";
        sqlite3_stmt *row;
        int code = statement_first(db, sql, &row, diag);
        sqlite3_finalize(row);
        if (code < 0)
                return code;
        if (failed)
                fputs("\nMissing: a part of the run (see above).\n", out);
        if (code > 0) {
                char *word = words_join((const char *const[]){file, NULL});
                fprintf(
                    out,
                    "\nSamples and names that are missing: memlag query --name missing"
                    "%s%s\n",
                    file ? " " : "", word ? word : "");
                free(word);
        }
        return 0;
}

static bool is_for(const struct remedy *remedy, const struct report_kind *kind)
{
        return (!remedy->of_code && !remedy->of_data) ||
               (remedy->of_code && kind->of_code) || (remedy->of_data && kind->of_data);
}

int report_print_missing(struct db *db, const struct report_options *options,
                         const struct report_summary *summary, FILE *out,
                         struct diag *diag)
{
        int code = options->verbose
                       ? print_ledger(db, options->kind, summary, out, diag)
                       : print_way_to_ledger(db, options->file, summary->failure != NULL,
                                             out, diag);
        for (size_t i = 0; !code && i < sizeof(remedies) / sizeof(remedies[0]); i++)
                if (is_for(&remedies[i], options->kind))
                        code = print_remedy(db, &remedies[i], out, diag);
        return code;
}
