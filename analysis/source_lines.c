/* SPDX-License-Identifier: MIT */
/* Reads each source file once, up to the last wanted line. */
#include "source_lines.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "source_text.h"
#include "statement.h"
#include "text.h"

struct reading {
        struct db *db;
        const struct source_search *search;
        sqlite3_stmt *insert;
        int64_t recorded_s;
        FILE *notes;
        FILE *missing; /* names of missing files */
        struct diag *diag;
};

/* ---- one file ---- */

static int insert_line(struct reading *reading, const char *file, int64_t line,
                       const char *text)
{
        sqlite3_bind_text(reading->insert, 1, file, -1, SQLITE_STATIC);
        sqlite3_bind_int64(reading->insert, 2, line);
        sqlite3_bind_text(reading->insert, 3, text, -1, SQLITE_STATIC);
        return statement_run(reading->db, reading->insert, reading->diag);
}

/* Reads lines FIRST to LAST; *NEXT is the line number of SOURCE's position. */
static int read_range(struct reading *reading, const char *file, FILE *source,
                      int64_t first, int64_t last, int64_t *next)
{
        int code = 0;
        if (first > *next) {
                source_text_skip(source, first - *next);
                *next = first;
        }
        while (!code && *next <= last) {
                char *text = source_text_line(source);
                if (!text)
                        break;
                code = insert_line(reading, file, (*next)++, text);
                free(text);
        }
        return code;
}

static void note_age(struct reading *reading, const char *found,
                     const struct stat *status, const char *module)
{
        const char *older = source_text_newer_than(status, reading->recorded_s, module);
        char *name = older ? text_printable(found, strlen(found)) : NULL;
        if (name)
                fprintf(reading->notes,
                        "%s is newer than the %s: lines may have moved. Record again, or "
                        "give the directory of the sources that it was built of with "
                        "--source-path.\n",
                        name, older);
        free(name);
}

static void note_short(struct reading *reading, const char *found, int64_t line)
{
        char *name = text_printable(found, strlen(found));
        if (name)
                fprintf(reading->notes,
                        "%s has no line %" PRId64
                        ": it is not the file that was compiled. Give the directory of "
                        "that one with --source-path.\n",
                        name, line);
        free(name);
}

static void note_missing(struct reading *reading, const char *file)
{
        char *name = text_printable(file, strlen(file));
        if (name)
                fprintf(reading->missing, "%s%s", ftell(reading->missing) > 0 ? ", " : "",
                        name);
        free(name);
}

/* Reads the wanted lines of FILE; HOTTEST is its last line with samples. */
static int read_file(struct reading *reading, const char *file, const char *module,
                     int64_t hottest)
{
        struct stat status;
        char *found;
        sqlite3_stmt *ranges = NULL;
        FILE *source =
            source_file_open(reading->db, reading->search, file, &status, &found);
        if (!source) {
                note_missing(reading, file);
                free(found);
                return 0;
        }
        int code = statement_prepare(reading->db,
                                     "SELECT first, last FROM annotated_wanted"
                                     " WHERE file = ?1 ORDER BY first, last",
                                     &ranges, reading->diag);
        if (!code)
                sqlite3_bind_text(ranges, 1, file, -1, SQLITE_STATIC);
        int64_t next = 1;
        while (!code && (code = statement_next(reading->db, ranges, reading->diag)) > 0)
                code = read_range(reading, file, source, sqlite3_column_int64(ranges, 0),
                                  sqlite3_column_int64(ranges, 1), &next);
        sqlite3_finalize(ranges);
        fclose(source);
        note_age(reading, found, &status, module);
        if (!code && next <= hottest)
                note_short(reading, found, hottest);
        free(found);
        return code;
}

/* ---- all of them ---- */

static int read_files(struct reading *reading)
{
        sqlite3_stmt *files;
        int code = statement_prepare(
            reading->db,
            "SELECT file, max(module), max(hottest) FROM annotated_wanted GROUP BY file",
            &files, reading->diag);
        while (!code && (code = statement_next(reading->db, files, reading->diag)) > 0)
                code = read_file(reading, statement_text(files, 0),
                                 (const char *)sqlite3_column_text(files, 1),
                                 sqlite3_column_int64(files, 2));
        sqlite3_finalize(files);
        return code;
}

int source_lines_prepare(struct db *db, struct diag *diag)
{
        return statement_run_all(
            db,
            "CREATE TEMP TABLE annotated_wanted (block_id INTEGER, file TEXT,"
            " first INTEGER, last INTEGER, module TEXT, hottest INTEGER);"
            "CREATE TEMP TABLE annotated_text (file TEXT, line INTEGER, text TEXT,"
            " PRIMARY KEY (file, line)) WITHOUT ROWID",
            diag);
}

static int want_lines(struct db *db, int64_t context, struct diag *diag)
{
        /* Line numbers may be of any size: never add to them. */
        static const char sql[] =
            "INSERT INTO annotated_wanted "
            "SELECT DISTINCT block_id, r.file, max(r.line - ?1, 1),"
            " iif(r.line > 9e15, r.line, r.line + ?1), r.module, r.line"
            " FROM annotated_row AS r JOIN annotated_block AS b USING (block_id)"
            " WHERE level = 0 AND r.file IS NOT NULL AND r.line > 0"
            " AND b.first_line IS NULL "
            "UNION ALL "
            "SELECT block_id, file,"
            " max(first_line - iif(first_line < last_line, 0, ?1), 1),"
            " last_line + iif(first_line < last_line OR last_line > 9e15, 0, ?1),"
            " NULL, NULL FROM annotated_block WHERE first_line IS NOT NULL";
        sqlite3_stmt *insert = NULL;
        int code = source_lines_prepare(db, diag);
        if (!code)
                code = statement_prepare(db, sql, &insert, diag);
        if (code)
                return code;
        sqlite3_bind_int64(insert, 1, context);
        code = statement_run(db, insert, diag);
        sqlite3_finalize(insert);
        return code;
}

int source_lines_read_wanted(struct db *db, const struct source_search *search,
                             FILE *notes, struct diag *diag)
{
        char *missing = NULL;
        size_t size;
        struct reading reading = {
            .db = db, .search = search, .notes = notes, .diag = diag};
        int code = statement_number(
            db,
            "SELECT coalesce((SELECT CAST(strftime('%s', value) AS INTEGER)"
            " FROM run WHERE key = 'start'), 9223372036854775807)",
            &reading.recorded_s, diag);
        if (!code)
                code = statement_prepare(
                    db, "INSERT OR IGNORE INTO annotated_text VALUES (?, ?, ?)",
                    &reading.insert, diag);
        if (!code && !(reading.missing = open_memstream(&missing, &size)))
                code = diag_no_memory(diag);
        if (!code)
                code = read_files(&reading);
        if (reading.missing && fclose(reading.missing) == 0 && *missing)
                fprintf(notes,
                        "Source text not found: %s. Where the sources are elsewhere, "
                        "--source-path DIR or --substitute-path FROM=TO tells.\n",
                        missing);
        free(missing);
        sqlite3_finalize(reading.insert);
        return code;
}

int source_lines_read(struct db *db, const struct source_search *search, int64_t context,
                      FILE *notes, struct diag *diag)
{
        int code = want_lines(db, context, diag);
        return code ? code : source_lines_read_wanted(db, search, notes, diag);
}
