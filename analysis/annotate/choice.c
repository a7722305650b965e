/* SPDX-License-Identifier: MIT */
/* Translates the user's arguments to rows of annotated_block. */
#include "choice.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report_sql.h"
#include "statement.h"

/* A file with a range of lines; first 0: all lines. */
struct file_lines {
        char *file; /* owned */
        int64_t first;
        int64_t last;
};

/* Parses TEXT as "12" or "12-34"; the order may be reversed. */
static bool parse_lines(const char *text, struct file_lines *lines)
{
        char *end;
        errno = 0;
        if (*text < '0' || *text > '9')
                return false;
        lines->first = lines->last = strtoll(text, &end, 10);
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
                lines->last = strtoll(end + 1, &end, 10);
        return !errno && !*end && lines->first > 0;
}

static int parse_file(const char *text, struct file_lines *lines)
{
        while (strncmp(text, "./", 2) == 0)
                text += 2;
        *lines = (struct file_lines){.file = strdup(text)};
        char *colon = lines->file ? strrchr(lines->file, ':') : NULL;
        if (colon && parse_lines(colon + 1, lines))
                *colon = '\0';
        return lines->file ? 0 : -ENOMEM;
}

/* Runs SQL with the parameters TEXT, ORDER, FIRST and LAST; *ADDED gets the number of new
 * rows. */
static int add(struct db *db, const char *sql, const char *text, int64_t order,
               const struct file_lines *lines, int *added, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(db, sql, &insert, diag);
        if (code)
                return code;
        sqlite3_bind_text(insert, 1, text, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, order);
        if (lines && lines->first) {
                sqlite3_bind_int64(insert, 3, lines->first);
                sqlite3_bind_int64(insert, 4, lines->last);
        }
        int before = sqlite3_total_changes(db_sqlite(db));
        code = statement_run(db, insert, diag);
        *added = sqlite3_total_changes(db_sqlite(db)) - before;
        sqlite3_finalize(insert);
        return code;
}

/* clang-format off */
#define FUNCTIONS \
        "INSERT INTO annotated_block (choice_order, module, function, function_offset) " \
        "SELECT ?2, module, function, function_offset FROM annotated_frame WHERE "
#define EACH_FUNCTION " GROUP BY module, function, function_offset"

static const char by_name_sql[] =
    FUNCTIONS REPORT_FUNCTION_NAME "= ?1" EACH_FUNCTION;
static const char by_pattern_sql[] =
    FUNCTIONS REPORT_FUNCTION_LIKE("?1") EACH_FUNCTION;
static const char by_file_sql[] =
    "INSERT INTO annotated_block (choice_order, file, first_line, last_line) "
    "SELECT DISTINCT ?2, file, ?3, ?4 FROM annotated_frame"
    " WHERE file = ?1 OR substr(file, -length(?1) - 1) = '/' || ?1";

/* Names that ?1 resembles or is a part of; the nearest name first. */
static const char near_sql[] =
    "SELECT group_concat(printf('''%.160s''', name), ', ') FROM ("
    " SELECT name FROM (SELECT DISTINCT" REPORT_FUNCTION_NAME "AS name FROM annotated_frame"
    "  UNION SELECT" REPORT_BASE("file") "FROM annotated_frame WHERE file IS NOT NULL)"
    " WHERE function_distance(?1, name) IS NOT NULL"
    " ORDER BY function_distance(?1, name), name LIMIT 3)";
/* clang-format on */

static int add_file(struct db *db, const char *text, int64_t order, int *added,
                    struct diag *diag)
{
        struct file_lines lines;
        int code = parse_file(text, &lines);
        code = code ? diag_no_memory(diag)
                    : add(db, by_file_sql, lines.file, order, &lines, added, diag);
        if (!code && *added && lines.last < lines.first)
                code = diag_set(diag, -EINVAL,
                                "lines %" PRId64 "-%" PRId64
                                " of %s end before they begin; write %s:%" PRId64
                                "-%" PRId64,
                                lines.first, lines.last, lines.file, lines.file,
                                lines.last, lines.first);
        free(lines.file);
        return code;
}

static int explain_nothing(struct db *db, const char *text, struct diag *diag)
{
        const char *base = strrchr(text, '/');
        sqlite3_stmt *row;
        int code = statement_prepare(db, near_sql, &row, diag);
        if (code)
                return code;
        sqlite3_bind_text(row, 1, base && base[1] ? base + 1 : text, -1, SQLITE_STATIC);
        const char *near = sqlite3_step(row) == SQLITE_ROW
                               ? (const char *)sqlite3_column_text(row, 0)
                               : NULL;
        code = diag_set(diag, -ENOENT,
                        "no sample was in a function or file called '%s'; %s%s%s'memlag "
                        "report --by function --top 0' and 'memlag report --top 0' show "
                        "where samples were",
                        text, near ? "near it are " : "", near ? near : "",
                        near ? "; " : "");
        sqlite3_finalize(row);
        return code;
}

int choice_add(struct db *db, const char *text, int64_t order, struct diag *diag)
{
        int added = 0;
        int code = add(db, by_name_sql, text, order, NULL, &added, diag);
        if (!code && !added)
                code = add_file(db, text, order, &added, diag);
        if (!code && !added)
                code = add(db, by_pattern_sql, text, order, NULL, &added, diag);
        return code || added ? code : explain_nothing(db, text, diag);
}

int choice_hottest(struct db *db, int64_t count, struct diag *diag)
{
        /* ?4 stays NULL: the default order of a report. */
        static const char sql[] =
            "INSERT INTO annotated_block (choice_order, module, function,"
            " function_offset) "
            "SELECT row_number() OVER (" REPORT_ORDER "function_id), module, function,"
            " function_offset FROM function_finding"
            " WHERE coalesce(function, module) IS NOT NULL" REPORT_ORDER
            "function_id LIMIT ?1";
        sqlite3_stmt *insert;
        int code = statement_prepare(db, sql, &insert, diag);
        if (code)
                return code;
        sqlite3_bind_int64(insert, 1, count);
        code = statement_run(db, insert, diag);
        sqlite3_finalize(insert);
        return code;
}
