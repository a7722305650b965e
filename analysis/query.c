/* SPDX-License-Identifier: MIT */
/* Runs statements on a database open for reading. Blocks everything that a read-only
 * connection still allows: other files, settings, extensions. */
#include "query.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "statement.h"
#include "text.h"

/* SQLite checks the time after so many virtual-machine instructions: about 100 us. */
#define PROGRESS_STEPS 10000

struct limits_kept {
        int64_t limit_s;      /* 0: none */
        int64_t end_s;        /* of CLOCK_MONOTONIC */
        struct rlimit memory; /* the previous limit */
};

/* Operations that the statements requested from the authorizer. */
struct asked {
        sqlite3 *sqlite;     /* the connection that runs the statements */
        const char *refused; /* the refused operation; NULL: none yet */
        bool findings;
};

/* ---- what is allowed ---- */

/* Pragmas that read the schema or file, and change neither. */
static bool is_reading_pragma(const char *name)
{
        static const char *const pragmas[] = {
            "application_id",   "collation_list",  "compile_options", "encoding",
            "foreign_key_list", "function_list",   "index_info",      "index_list",
            "index_xinfo",      "integrity_check", "quick_check",     "page_count",
            "page_size",        "table_info",      "table_list",      "table_xinfo",
            "user_version",     "schema_version",  "database_list",
        };
        for (size_t i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]); i++)
                if (sqlite3_stricmp(pragmas[i], name) == 0)
                        return true;
        return false;
}

/* Whether `memlag analyze` fills TABLE. */
static bool is_of_findings(const char *table)
{
        static const char suffix[] = "_finding";
        size_t length = strlen(table);
        return sqlite3_stricmp(table, "threshold") == 0 ||
               sqlite3_stricmp(table, "interval") == 0 ||
               (length >= strlen(suffix) &&
                sqlite3_stricmp(table + length - strlen(suffix), suffix) == 0);
}

/* Whether a statement is running. If so, VACUUM attaches its copy: an ATTACH statement is
 * authorized when compiled. */
static bool is_running(sqlite3 *sqlite)
{
        sqlite3_stmt *statement = sqlite3_next_stmt(sqlite, NULL);
        return statement && sqlite3_stmt_busy(statement);
}

/* A pragma that only reads without a value writes with a value; the read-only connection
 * refuses the write. */
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
        struct asked *asked = context;
        (void)database;
        (void)trigger;
        switch (action) {
        case SQLITE_READ:
                asked->findings |= is_of_findings(first);
                return SQLITE_OK;
        case SQLITE_SELECT:
        case SQLITE_RECURSIVE:
        case SQLITE_TRANSACTION:
        case SQLITE_SAVEPOINT:
                return SQLITE_OK;
        case SQLITE_FUNCTION:
                if (sqlite3_stricmp(second, "load_extension") != 0)
                        return SQLITE_OK;
                asked->refused = "load_extension()";
                return SQLITE_DENY;
        case SQLITE_PRAGMA:
                if (is_reading_pragma(first))
                        return SQLITE_OK;
                asked->refused = "this PRAGMA";
                return SQLITE_DENY;
        case SQLITE_ATTACH:
                asked->refused = is_running(asked->sqlite) ? "VACUUM" : "ATTACH";
                return SQLITE_DENY;
        case SQLITE_DETACH:
                asked->refused = "DETACH";
                return SQLITE_DENY;
        case SQLITE_UPDATE:
                /* SQLite requests this to open a table-valued function such as
                 * pragma_table_info. No statement can change that table itself. */
                if (sqlite3_stricmp(first, "sqlite_master") == 0)
                        return SQLITE_OK;
                asked->refused = "a statement that writes";
                return SQLITE_DENY;
        default:
                asked->refused = "a statement that writes";
                return SQLITE_DENY;
        }
}

/* ---- errors ---- */

/* Prints the line of SQL with the byte at OFFSET, and a caret below the byte. */
static void show_position(const char *sql, size_t offset)
{
        const char *start = sql + offset;
        while (start > sql && start[-1] != '\n')
                start--;
        char *before = text_printable(start, (size_t)(sql + offset - start));
        char *after = text_printable(sql + offset, strcspn(sql + offset, "\n"));
        if (before && after)
                fprintf(stderr, "  %s%s\n  %*s^\n", before, after,
                        (int)text_width(before), "");
        free(before);
        free(after);
}

static int line_number(const char *sql, size_t offset)
{
        int line = 1;
        for (size_t i = 0; i < offset; i++)
                line += sql[i] == '\n';
        return line;
}

static const char no_such_table[] = "no such table: ";

/* The table that MESSAGE reports as missing, without its schema; or NULL. */
static const char *missing_table(const char *message)
{
        if (strncmp(message, no_such_table, strlen(no_such_table)) != 0)
                return NULL;
        const char *name = message + strlen(no_such_table);
        const char *dot = strchr(name, '.');
        return dot ? dot + 1 : name;
}

static const char quotes[] = "'\"`[";

static bool is_word(char c)
{
        return isalnum((unsigned char)c) || c == '_' || c == '$' ||
               (unsigned char)c > 127;
}

/* The end of the text, comment, quoted name or word that begins at SQL; otherwise the
 * next character. */
static const char *token_end(const char *sql)
{
        const char *end;
        if (strncmp(sql, "--", 2) == 0)
                return sql + strcspn(sql, "\n");
        if (strncmp(sql, "/*", 2) == 0)
                return (end = strstr(sql + 2, "*/")) ? end + 2 : sql + strlen(sql);
        if (strchr(quotes, *sql))
                return (end = strchr(sql + 1, *sql == '[' ? ']' : *sql))
                           ? end + 1
                           : sql + strlen(sql);
        for (end = sql; is_word(*end); end++)
                ;
        return end > sql ? end : sql + 1;
}

/* The position of table NAME in the statement at SQL, because SQLite does not report it.
 * If only a view reads the table, the beginning of the statement. A semicolon ends the
 * statement: triggers, which contain semicolons, may not run. */
static const char *find_table(const char *sql, const char *name)
{
        size_t length = strlen(name);
        const char *end;
        for (const char *token = sql; *token && *token != ';'; token = end) {
                end = token_end(token);
                bool quoted = *token != '\'' && strchr(quotes, *token);
                if ((size_t)(end - token) == length + 2 * quoted &&
                    sqlite3_strnicmp(token + quoted, name, (int)length) == 0)
                        return token;
        }
        return sql;
}

static const char *skip_space(const char *text)
{
        while (isspace((unsigned char)*text))
                text++;
        return text;
}

/* The position in SQL of the error in STATEMENT, a part of SQL. SQLite gives no position
 * for a missing end, a table, or an error of the whole statement. */
static size_t error_position(struct db *db, const char *sql, const char *statement)
{
        const char *message = sqlite3_errmsg(db_sqlite(db));
        const char *table = missing_table(message);
        int offset = sqlite3_error_offset(db_sqlite(db));
        if (offset >= 0)
                return (size_t)(statement - sql) + (size_t)offset;
        if (strcmp(message, "incomplete input") != 0) {
                const char *start = skip_space(statement);
                return (size_t)((table ? find_table(start, table) : start) - sql);
        }
        size_t end = strlen(sql);
        while (end > 0 && isspace((unsigned char)sql[end - 1]))
                end--;
        return end;
}

static const char *remedy_of(const char *message)
{
        const char *table = missing_table(message);
        if (!table)
                return "";
        if (strcmp(table, "run_info") == 0 || strstr(table, "_view") ||
            is_of_findings(table))
                return "; 'memlag analyze' makes the views";
        return "; 'SELECT name FROM sqlite_schema' tells which there are";
}

/* Reports the error in the statement at STATEMENT, a part of SQL. */
static int compile_error(struct db *db, const char *sql, const char *statement,
                         struct diag *diag)
{
        const char *message = sqlite3_errmsg(db_sqlite(db));
        if ((sqlite3_errcode(db_sqlite(db)) & 0xff) != SQLITE_ERROR)
                return diag_set(diag, -EINVAL, "%s", message);
        size_t position = error_position(db, sql, statement);
        int line = line_number(sql, position);
        int code =
            diag_set(diag, -EINVAL, "line %d: %s%s", line, message, remedy_of(message));
        show_position(sql, position);
        return code;
}

/* Reports why the statement at STATEMENT, a part of SQL, ended with CODE. Blames the
 * statement, unless DIAG already blames the database. */
static int step_error(struct db *db, const char *sql, const char *statement, int code,
                      struct diag *diag)
{
        const char *message = sqlite3_errmsg(db_sqlite(db));
        switch (sqlite3_errcode(db_sqlite(db)) & 0xff) {
        case SQLITE_ERROR:
        case SQLITE_TOOBIG:
        case SQLITE_MISMATCH:
        case SQLITE_RANGE:
                return diag_set(diag, -EINVAL, "line %d: %s%s",
                                line_number(sql, (size_t)(skip_space(statement) - sql)),
                                message, remedy_of(message));
        default:
                return code;
        }
}

/* ---- results ---- */

/* The column names. JSON needs unique names: repeated names get their position appended.
 * The caller frees the result with free_names. */
static char **column_names(sqlite3_stmt *statement, enum format format)
{
        int count = sqlite3_column_count(statement);
        char **names = calloc((size_t)count + 1, sizeof(*names));
        for (int i = 0; names && i < count; i++) {
                const char *name = sqlite3_column_name(statement, i);
                bool repeated = false;
                for (int j = 0; format == FORMAT_JSON && name && j < i; j++)
                        repeated |= strcmp(names[j], name) == 0;
                names[i] = repeated ? sqlite3_mprintf("%s:%d", name, i + 1)
                                    : sqlite3_mprintf("%s", name ? name : "");
                if (!names[i]) {
                        while (i > 0)
                                sqlite3_free(names[--i]);
                        free(names);
                        return NULL;
                }
        }
        return names;
}

static void free_names(char **names)
{
        for (size_t i = 0; names && names[i]; i++)
                sqlite3_free(names[i]);
        free(names);
}

static int print_rows(struct db *db, sqlite3_stmt *statement, struct render *render,
                      FILE *out, struct diag *diag)
{
        int count = sqlite3_column_count(statement);
        struct cell *cells = calloc((size_t)count, sizeof(*cells));
        int code = cells ? 0 : diag_no_memory(diag);
        /* Stops if output fails: the reader may have left. */
        while (code == 0 && !ferror(out) &&
               (code = statement_next(db, statement, diag)) > 0) {
                for (int i = 0; i < count; i++)
                        cells[i] = cell_of_column(statement, i);
                code = render_row(render, cells);
                if (code)
                        diag_no_memory(diag);
        }
        free(cells);
        return code;
}

static int print_result(struct db *db, sqlite3_stmt *statement, enum format format,
                        FILE *out, size_t width, struct diag *diag)
{
        char **names = column_names(statement, format);
        struct render *render =
            names ? render_begin(format, out, (const char *const *)names,
                                 (size_t)sqlite3_column_count(statement), width)
                  : NULL;
        int code =
            render ? print_rows(db, statement, render, out, diag) : diag_no_memory(diag);
        render_end(render);
        if (format == FORMAT_JSON)
                putc('\n', out);
        free_names(names);
        /* The next statement may take long, or be interrupted. */
        if (fflush(out) && !code)
                code = diag_set(diag, -errno, "cannot write the output: %s",
                                strerror(errno));
        return code;
}

/* Runs the prepared STATEMENT and prints its result, if any; returns 0, or see query_run.
 */
static int run_statement(struct db *db, sqlite3_stmt *statement, bool *any_result,
                         enum format format, FILE *out, size_t width, struct diag *diag)
{
        if (sqlite3_column_count(statement) == 0)
                return statement_run(db, statement, diag);
        if (*any_result && format != FORMAT_JSON)
                putc('\n', out);
        *any_result = true;
        return print_result(db, statement, format, out, width, diag);
}

/* Runs the statements of SQL one after the other. *ANY_STATEMENT: SQL has a statement.
 * *RESULT: SQLite's result of the last statement. */
static int run_statements(struct db *db, const char *sql, enum format format, FILE *out,
                          size_t width, bool *any_statement, int *result,
                          struct diag *diag)
{
        bool any_result = false;
        int code = 0;
        for (const char *next = sql; code == 0 && *next;) {
                sqlite3_stmt *statement;
                const char *here = next;
                if (sqlite3_prepare_v2(db_sqlite(db), here, -1, &statement, &next))
                        code = compile_error(db, sql, here, diag);
                else if (statement && (code = run_statement(db, statement, &any_result,
                                                            format, out, width, diag)))
                        code = step_error(db, sql, here, code, diag);
                *any_statement |= statement != NULL;
                int ended = sqlite3_finalize(statement);
                *result =
                    code && ended == SQLITE_OK ? sqlite3_errcode(db_sqlite(db)) : ended;
        }
        return code;
}

/* ---- limits ---- */

/* An aggregate that lacks memory reads on to the last row before it fails, so the
 * allocator notes it for is_late. SQLite has one allocator for a process. */
static sqlite3_mem_methods plain_allocator;
static bool lacked_memory;

static void *noted(void *memory, int bytes)
{
        const int large = 1 << 20; /* caches manage with less */

        lacked_memory |= !memory && bytes >= large;
        return memory;
}

static void *noting_malloc(int bytes)
{
        return noted(plain_allocator.xMalloc(bytes), bytes);
}

static void *noting_realloc(void *memory, int bytes)
{
        return noted(plain_allocator.xRealloc(memory, bytes), bytes);
}

void query_begin(void)
{
        if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain_allocator) != SQLITE_OK)
                return;
        sqlite3_mem_methods noting = plain_allocator;
        noting.xMalloc = noting_malloc;
        noting.xRealloc = noting_realloc;
        sqlite3_config(SQLITE_CONFIG_MALLOC, &noting);
}

static int64_t now_s(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec;
}

static int is_late(void *context)
{
        const struct limits_kept *kept = context;
        return lacked_memory || (kept->limit_s > 0 && now_s() >= kept->end_s);
}

/* Limits the whole process, which only runs the query: SQLite does not count its memory
 * here. */
static void limit_memory(int64_t bytes, struct rlimit *before)
{
        if (getrlimit(RLIMIT_DATA, before) != 0)
                *before = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
        struct rlimit limit = *before;
        if (bytes > 0 && (rlim_t)bytes < limit.rlim_cur) {
                limit.rlim_cur = (rlim_t)bytes;
                setrlimit(RLIMIT_DATA, &limit);
        }
}

/* Sorting uses memory instead of temporary files, and that memory counts. */
static void begin_limits(sqlite3 *sqlite, const struct query_limits *limits,
                         struct limits_kept *kept)
{
        *kept = (struct limits_kept){.limit_s = limits->seconds,
                                     .end_s = now_s() + limits->seconds};
        sqlite3_exec(sqlite, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
        limit_memory(limits->memory_bytes, &kept->memory);
        sqlite3_progress_handler(sqlite, PROGRESS_STEPS, is_late, kept);
}

static void end_limits(sqlite3 *sqlite, const struct limits_kept *kept)
{
        sqlite3_progress_handler(sqlite, 0, NULL, NULL);
        setrlimit(RLIMIT_DATA, &kept->memory);
}

/* Whether a limit made statements fail with SQLite's RESULT. */
static int over_limit(int result, const struct query_limits *limits, struct diag *diag)
{
        if (result == SQLITE_INTERRUPT && !lacked_memory)
                return diag_set(diag, -ETIME,
                                "the query was ended after %lld s; give it longer with "
                                "--time-limit",
                                (long long)limits->seconds);
        if (result != SQLITE_NOMEM && !lacked_memory)
                return 0;
        if (limits->memory_bytes > 0)
                return diag_set(diag, -ENOMEM,
                                "the query needs more memory than %lld MB; give it more "
                                "with --memory-limit",
                                (long long)limits->memory_bytes >> 20);
        return diag_no_memory(diag);
}

int query_run(struct db *db, const char *sql, const struct query_limits *limits,
              enum format format, FILE *out, size_t width, bool *lacks_findings,
              struct diag *diag)
{
        struct limits_kept kept;
        struct asked asked = {.sqlite = db_sqlite(db)};
        bool any_statement = false;
        int64_t thresholds = 0;
        begin_limits(db_sqlite(db), limits, &kept);
        sqlite3_set_authorizer(db_sqlite(db), authorize, &asked);
        int result = SQLITE_OK;
        int code =
            run_statements(db, sql, format, out, width, &any_statement, &result, diag);
        sqlite3_set_authorizer(db_sqlite(db), NULL, NULL);
        end_limits(db_sqlite(db), &kept);
        if (code && over_limit(result, limits, diag))
                return -ECANCELED;
        if (asked.refused)
                return diag_set(diag, -EPERM,
                                "%s: refused; queries may only read the database",
                                asked.refused);
        if (!code && !any_statement)
                return diag_set(diag, -ENODATA, "no SQL given");
        if (!code && asked.findings)
                code = statement_number(db, "SELECT count(*) FROM threshold", &thresholds,
                                        diag);
        *lacks_findings = !code && asked.findings && thresholds == 0;
        return code;
}
