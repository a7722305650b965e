/* SPDX-License-Identifier: MIT */
/* See selection.h. SQLite looks up a table's name among temporary tables first. But views
 * of the file only see the file's own tables. Therefore this file copies the views too.
 */
#include "selection.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "analyze.h"
#include "array.h"
#include "command_line.h"
#include "option_number.h"
#include "statement.h"

/* ---- the options ---- */

static void list_add(struct selection_list *list, const char *text,
                     const struct argp_state *state)
{
        if (array_reserve(&list->items, &list->capacity, list->count,
                          sizeof(*list->items)) < 0)
                argp_failure(state, EXIT_FAILURE, ENOMEM, "%s", text);
        list->items[list->count++] = text;
}

static void add_name(struct selection_list *list, const char *option, const char *text,
                     const struct argp_state *state)
{
        if (!*text)
                usage_error(state, "%s: the name is empty; '*' fits every name", option);
        list_add(list, text, state);
}

/* Parses LENGTH bytes at TEXT as milliseconds and returns nanoseconds. FALLBACK for an
 * empty text; -1: no number. */
static int64_t parse_ms(const char *text, size_t length, int64_t fallback)
{
        double ms;
        if (length == 0)
                return fallback;
        return number_parse(text, length, &ms) && ms < 1e12 ? llround(ms * 1e6) : -1;
}

static void parse_time(struct selection *selection, const char *text,
                       const struct argp_state *state)
{
        size_t length = strcspn(text, "-");
        const char *to = text + length + (text[length] == '-');
        selection->from_ns = parse_ms(text, length, 0);
        selection->to_ns = parse_ms(to, strlen(to), INT64_MAX);
        selection->has_time = true;
        if (text[length] != '-' || selection->from_ns < 0 ||
            selection->to_ns <= selection->from_ns)
                usage_error(state,
                            "--time: '%s' is not FROM-TO in milliseconds, such as "
                            "10-20.5, with FROM before TO",
                            text);
}

error_t selection_parse(struct selection *selection, int key, const char *text,
                        const struct argp_state *state)
{
        switch (key) {
        case SELECTION_PID:
                usage_whole(state, "--pid", text, 0, INT32_MAX);
                list_add(&selection->pids, text, state);
                return 0;
        case SELECTION_PROCESS:
                add_name(&selection->processes, "--process", text, state);
                return 0;
        case SELECTION_THREAD:
                add_name(&selection->threads, "--thread", text, state);
                return 0;
        case SELECTION_TIME:
                parse_time(selection, text, state);
                return 0;
        case SELECTION_PHASE:
                usage_whole(state, "--phase", text, 1, INT32_MAX);
                list_add(&selection->phases, text, state);
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

void selection_free(struct selection *selection)
{
        free(selection->pids.items);
        free(selection->processes.items);
        free(selection->threads.items);
        free(selection->phases.items);
}

bool selection_is_of_tasks(const struct selection *selection)
{
        return selection->pids.count || selection->processes.count ||
               selection->threads.count;
}

static bool is_of_time(const struct selection *selection)
{
        return selection->has_time || selection->phases.count;
}

bool selection_is_any(const struct selection *selection)
{
        return is_of_time(selection) || selection_is_of_tasks(selection);
}

/* ---- the selected threads ---- */

static const char lists_sql[] =
    "CREATE TEMP TABLE selected_word (kind TEXT NOT NULL, word TEXT NOT NULL);"
    "CREATE TEMP TABLE selected_thread (thread_id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE selected_time (from_ns INTEGER, to_ns INTEGER, phase INTEGER)";

/* An empty list selects everything. A process matches by its program's path, the last
 * part of the path, or the name of its first thread, such as a script's name. Names are
 * patterns. */
static const char threads_sql[] =
    "INSERT INTO temp.selected_thread "
    "SELECT thread_id FROM main.thread AS t JOIN main.process_view AS p USING "
    "(process_id) "
    "WHERE (NOT EXISTS (SELECT 1 FROM selected_word WHERE kind = 'pid') OR EXISTS"
    "  (SELECT 1 FROM selected_word WHERE kind = 'pid' AND CAST(word AS INTEGER) = "
    "p.pid))"
    " AND (NOT EXISTS (SELECT 1 FROM selected_word WHERE kind = 'process') OR EXISTS"
    "  (SELECT 1 FROM selected_word WHERE kind = 'process' AND (p.process GLOB word"
    "   OR p.executable GLOB word OR p.name GLOB word)))"
    " AND (NOT EXISTS (SELECT 1 FROM selected_word WHERE kind = 'thread') OR EXISTS"
    "  (SELECT 1 FROM selected_word WHERE kind = 'thread'"
    "   AND (t.tid = word OR coalesce(t.name, p.process) GLOB word)))";

static int store_words(struct db *db, const char *kind, const struct selection_list *list,
                       struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(db, "INSERT INTO temp.selected_word VALUES (?1, ?2)",
                                     &insert, diag);
        for (size_t i = 0; code == 0 && i < list->count; i++) {
                sqlite3_bind_text(insert, 1, kind, -1, SQLITE_STATIC);
                sqlite3_bind_text(insert, 2, list->items[i], -1, SQLITE_STATIC);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

/* No thread is selected. */
static int complain(struct db *db, struct diag *diag)
{
        sqlite3_stmt *row;
        int code = statement_first(db,
                                   "SELECT group_concat(kind || ' ' || word, ', ')"
                                   " FROM temp.selected_word",
                                   &row, diag);
        if (code > 0)
                code = diag_set(diag, -ENODATA,
                                "%s has no %s; 'memlag report --by process --top=0' "
                                "lists the processes, and --by thread the threads",
                                sqlite3_db_filename(db_sqlite(db), "main"),
                                statement_text(row, 0));
        sqlite3_finalize(row);
        return code;
}

static int find_threads(const struct selection *selection, struct db *db,
                        struct diag *diag)
{
        int64_t count = 0;
        int code = store_words(db, "pid", &selection->pids, diag);
        if (!code)
                code = store_words(db, "process", &selection->processes, diag);
        if (!code)
                code = store_words(db, "thread", &selection->threads, diag);
        if (!code)
                code = statement_run_all(db, threads_sql, diag);
        if (!code)
                code = statement_number(db, "SELECT count(*) FROM selected_thread",
                                        &count, diag);
        return !code && !count ? complain(db, diag) : code;
}

/* ---- the selected time ---- */

/* ?1 to ?2, or the part of the selected phases in it. Contiguous intervals make a phase.
 */
static const char times_sql[] =
    "INSERT INTO temp.selected_time SELECT ?1, ?2, NULL"
    " WHERE NOT EXISTS (SELECT 1 FROM selected_word WHERE kind = 'phase') "
    "UNION ALL SELECT max(min(start_ns), ?1), min(max(end_ns), ?2), phase_id"
    " FROM main.phase_interval_view JOIN main.interval USING (interval_id)"
    " WHERE phase_id IN (SELECT CAST(word AS INTEGER) FROM selected_word"
    "                    WHERE kind = 'phase') GROUP BY phase_id";

static int check_phases(const struct selection *selection, struct db *db,
                        struct diag *diag)
{
        static const char sql[] =
            "SELECT min(CAST(word AS INTEGER)) FROM selected_word WHERE kind = 'phase'"
            " AND CAST(word AS INTEGER) NOT IN (SELECT phase FROM selected_time)";
        int64_t unknown = 0;
        int code =
            selection->phases.count ? statement_number(db, sql, &unknown, diag) : 0;
        if (!code && unknown)
                code = diag_set(diag, -ENODATA,
                                "%s has no phase %lld; 'memlag report --by phase "
                                "--top=0' lists the phases",
                                sqlite3_db_filename(db_sqlite(db), "main"),
                                (long long)unknown);
        return code;
}

static int find_times(const struct selection *selection, struct db *db, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = store_words(db, "phase", &selection->phases, diag);
        if (!code)
                code = statement_prepare(db, times_sql, &insert, diag);
        if (code)
                return code;
        sqlite3_bind_int64(insert, 1,
                           selection->has_time ? selection->from_ns : INT64_MIN);
        sqlite3_bind_int64(insert, 2, selection->has_time ? selection->to_ns : INT64_MAX);
        code = statement_run(db, insert, diag);
        sqlite3_finalize(insert);
        return code ? code : check_phases(selection, db, diag);
}

/* ---- the selection in words ---- */

enum { NAMED_ITEMS = 4 };

/* At most ?3 of the texts in LIST, in their order, and the number of the others. */
#define FIRST_OF(list, order)                                                            \
        " (SELECT group_concat(text, ', ') FROM"                                         \
        "  (SELECT text FROM " list " ORDER BY " order " LIMIT ?3))"                     \
        " || (SELECT iif(count(*) > ?3, printf(' and %d more', count(*) - ?3), '')"      \
        "     FROM " list ") "

static int describe(const struct selection *selection, struct db *db, struct diag *diag)
{
        /* clang-format off */
        static const char sql[] =
            "WITH meant AS (SELECT DISTINCT p.pid, p.process, t.tid, coalesce(t.name, p.process) AS name"
            "  FROM selected_thread JOIN main.thread AS t USING (thread_id)"
            "  JOIN main.process_view AS p USING (process_id)),"
            " named AS (SELECT pid AS number,"
            "   printf('%d (%s)', pid, group_concat(DISTINCT process)) AS text"
            "  FROM meant WHERE NOT ?2 GROUP BY pid UNION ALL"
            "  SELECT DISTINCT tid, printf('%d (%s)', tid, name) FROM meant WHERE ?2),"
            " timed AS (SELECT from_ns, iif(phase, printf('phase %d, ', phase), '')"
            "  || printf('%.3f ms to %s', from_ns / 1e6,"
            "      iif(to_ns = 9223372036854775807, 'the end', printf('%.3f ms', to_ns / 1e6))) AS text"
            "  FROM selected_time) "
            "INSERT INTO run SELECT 'selection', iif(?1, iif(?2, 'thread', 'process')"
            "  || iif(count(*) = 1, ' ', iif(?2, 's ', 'es ')) ||" FIRST_OF("named", "number") ", '')"
            "  || iif(?1 AND ?4, ', ', '') || iif(?4," FIRST_OF("timed", "from_ns") ", '') FROM named";
        /* clang-format on */
        sqlite3_stmt *insert;
        int code = statement_prepare(db, sql, &insert, diag);
        if (code)
                return code;
        sqlite3_bind_int(insert, 1, selection_is_of_tasks(selection));
        sqlite3_bind_int(insert, 2, selection->threads.count > 0);
        sqlite3_bind_int(insert, 3, NAMED_ITEMS);
        sqlite3_bind_int(insert, 4, is_of_time(selection));
        code = statement_run(db, insert, diag);
        sqlite3_finalize(insert);
        return code;
}

/* ---- the temporary tables and views ---- */

/* Tables of findings start empty; run and ledger are copied from the whole recording.
 * Nobody recounts wide fields: the copy of wide_field stays empty. */
static const char copies_sql[] =
    "SELECT printf('CREATE TEMP %s', substr(sql, length('CREATE ') + 1)),"
    " printf('INSERT INTO temp.\"%w\" SELECT * FROM main.\"%w\"%s', name, name,"
    "        iif(name = 'ledger', ' WHERE stage <> ''analysis''', '')),"
    " name IN ('run', 'ledger') "
    "FROM main.sqlite_schema WHERE type = 'table' AND (name GLOB '*_finding' OR name IN"
    " ('interval', 'threshold', 'wide_field', 'run', 'ledger'))";

static const char views_sql[] =
    "SELECT printf('CREATE TEMP %s', substr(sql, length('CREATE ') + 1)), NULL, 0 "
    "FROM main.sqlite_schema WHERE type = 'view'";

struct copying {
        struct db *db;
        struct diag *diag;
        int code;
};

/* Runs the first statement only: the file provides a view's text, which may contain more.
 */
static int run_first(struct db *db, const char *sql, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = statement_prepare(db, sql, &statement, diag);
        if (!code)
                code = statement_run(db, statement, diag);
        sqlite3_finalize(statement);
        return code;
}

/* Columns: SQL that creates the copy, SQL that fills it, whether to fill it. */
static int copy_item(void *context, sqlite3_stmt *row)
{
        struct copying *copying = context;
        if (!copying->code)
                copying->code =
                    run_first(copying->db, statement_text(row, 0), copying->diag);
        if (!copying->code && sqlite3_column_int(row, 2))
                copying->code =
                    run_first(copying->db, statement_text(row, 1), copying->diag);
        return 0;
}

static int copy_all(struct db *db, const char *sql, struct diag *diag)
{
        struct copying copying = {db, diag, 0};
        int code = statement_each(db, sql, copy_item, &copying, diag);
        return code ? code : copying.code;
}

#define IN_TIME(time)                                                                    \
        " EXISTS (SELECT 1 FROM temp.selected_time WHERE " time " >= from_ns"            \
        "         AND " time " < to_ns) "

/* SQL that creates temporary samples, page faults, counter values, threads and intervals
 * of the selected part. A counter value belongs to the part if its middle is in the
 * selected time. */
static char *part_sql(const struct selection *selection)
{
        const char *of_thread = selection_is_of_tasks(selection)
                                    ? "thread_id IN (SELECT thread_id FROM "
                                      "temp.selected_thread)"
                                    : "1";
        /* clang-format off */
        return sqlite3_mprintf(
            "CREATE TEMP VIEW thread AS SELECT * FROM main.thread WHERE %s;"
            "CREATE TEMP VIEW sample AS SELECT * FROM main.sample"
            " WHERE %s AND" IN_TIME("time_ns") ";"
            "CREATE TEMP VIEW page_fault AS SELECT * FROM main.page_fault AS f"
            " WHERE EXISTS (SELECT 1 FROM temp.sample AS s WHERE s.sample_id = f.sample_id);"
            "CREATE TEMP VIEW reading AS SELECT * FROM main.reading"
            " WHERE %s AND" IN_TIME("start_ns / 2 + end_ns / 2") ";"
            "DELETE FROM temp.interval WHERE NOT EXISTS (SELECT 1 FROM selected_time"
            " WHERE end_ns > from_ns AND start_ns < to_ns);",
            of_thread, of_thread, of_thread);
        /* clang-format on */
}

/* Drops all temporary tables and views but sample_part. */
static int drop_copies(struct db *db, struct diag *diag)
{
        static const char sql[] =
            "SELECT group_concat(printf('DROP %s temp.\"%w\"', type, name), ';')"
            " FROM sqlite_temp_schema WHERE type IN ('view', 'table')"
            " AND name NOT IN ('sample_part', 'sqlite_stat1')";
        sqlite3_stmt *row;
        int code = statement_first(db, sql, &row, diag);
        char *drops = code > 0 ? strdup(statement_text(row, 0)) : NULL;
        sqlite3_finalize(row);
        if (code >= 0)
                code = drops ? statement_run_all(db, drops, diag) : diag_no_memory(diag);
        free(drops);
        return code;
}

int selection_apply(const struct selection *selection, struct db *db, struct diag *diag)
{
        const bool whole = !selection_is_any(selection);
        if (whole && !selection->with_parts)
                return 0;
        int code = statement_run_all(db, lists_sql, diag);
        if (!code)
                code = find_threads(selection, db, diag);
        if (!code)
                code = find_times(selection, db, diag);
        if (!code)
                code = copy_all(db, copies_sql, diag);
        if (!code)
                code = describe(selection, db, diag);
        if (!code)
                code = statement_run_all(db,
                                         "INSERT INTO run SELECT 'recorded_samples',"
                                         " count(*) FROM main.sample",
                                         diag);
        if (!code && selection->with_parts)
                code =
                    statement_run_all(db,
                                      "CREATE TEMP TABLE sample_part (sample_id INTEGER "
                                      "PRIMARY KEY, part INTEGER)",
                                      diag);
        char *part = code ? NULL : part_sql(selection);
        if (!code && !part)
                code = diag_no_memory(diag);
        if (!code)
                code = analyze_part(db, whole ? "" : part, selection->with_parts, diag);
        sqlite3_free(part);
        if (code)
                return code;
        return whole ? drop_copies(db, diag) : copy_all(db, views_sql, diag);
}
