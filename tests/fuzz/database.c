/* SPDX-License-Identifier: MIT */
/* Fuzz target: the commands that read a database, on one that somebody has changed. The
 * input is a byte that chooses the command, and edits of FUZZ_DATABASE, a small recording
 * with findings: values in its rows, or bytes of its file. */
#include <sqlite3.h>

#include "analysis.h"
#include "command.h"
#include "fuzz_target.h"

int cmd_symbolize(int argc, char **argv);

static const char copy_name[] = "fuzz_database-copy.db";

/* One edit. TABLE, COLUMN and ROW count from 0, modulo how many there are. */
struct edit {
        uint8_t kind; /* enum edit_kind */
        uint8_t table, column, row;
        uint64_t value;
};

enum edit_kind { SET_INTEGER, SET_REAL, SET_TEXT, SET_BLOB, SET_NULL, SET_BYTES, KINDS };

/* ---- commands ---- */

int command_run(const char *name, int argc, char **argv)
{
        if (strcmp(name, "symbolize") == 0)
                return cmd_symbolize(argc, argv);
        if (strcmp(name, "analyze") == 0)
                return cmd_analyze(argc, argv);
        abort();
}

int command_show_findings(const char *file)
{
        abort();
}

enum { ARGUMENTS = 6 };

/* A sanitizer cannot do with little memory. */
static void run_command(uint8_t choice)
{
        static char name[] = "fuzz_database-copy.db", original[] = FUZZ_DATABASE;
        static const struct {
                int (*run)(int argc, char **argv);
                char *arguments[ARGUMENTS + 1];
        } commands[] = {
            {cmd_report, {"report", name}},
            {cmd_report, {"report", "--verbose", name}},
            {cmd_report, {"report", "--by=line", "--format=json", name}},
            {cmd_report, {"report", "--by=object", "--format=csv", name}},
            {cmd_report, {"report", "--by=type", name}},
            {cmd_report, {"report", "--by=interval", name}},
            {cmd_report, {"report", "--by=phase", name}},
            {cmd_report, {"report", "--by=caller", name}},
            {cmd_report, {"report", "--by=thread", "--top=0", name}},
            {cmd_report, {"report", "--by=function", "--time=0-0.005", name}},
            {cmd_annotate, {"annotate", "-i", name}},
            {cmd_diff, {"diff", original, name}},
            {cmd_export, {"export", "--format=callgrind", name}},
            {cmd_export, {"export", "--format=folded", name}},
            {cmd_query, {"query", "--memory-limit=0", "-i", name, "--name", "intervals"}},
            {cmd_query,
             {"query", "--memory-limit=0", "-i", name, "SELECT * FROM sample_view"}},
            {cmd_symbolize, {"symbolize", name}},
            {cmd_analyze, {"analyze", name}},
        };
        choice %= sizeof(commands) / sizeof(commands[0]);
        char *arguments[ARGUMENTS + 1];
        int count = 0;
        memcpy(arguments, commands[choice].arguments, sizeof(arguments));
        while (arguments[count])
                count++;
        (void)commands[choice].run(count, arguments);
}

/* ---- edits ---- */

/* Bytes of the file come last: behind them SQLite may find no table any more. */
static void change_bytes(const struct edit *edits, size_t count)
{
        FILE *file = fopen(copy_name, "r+");
        if (!file)
                abort();
        for (size_t i = 0; i < count; i++) {
                const struct edit *edit = &edits[i];
                if (edit->kind % KINDS == SET_BYTES &&
                    fseek(file, edit->table << 16 | edit->column << 8 | edit->row,
                          SEEK_SET) == 0)
                        (void)fwrite(&edit->value, sizeof(edit->value), 1, file);
        }
        fclose(file);
}

static void bind(sqlite3_stmt *update, const struct edit *edit)
{
        double real;
        memcpy(&real, &edit->value, sizeof(real));
        switch (edit->kind % KINDS) {
        case SET_INTEGER:
                sqlite3_bind_int64(update, 1, (int64_t)edit->value);
                break;
        case SET_REAL:
                sqlite3_bind_double(update, 1, real);
                break;
        case SET_TEXT:
                sqlite3_bind_text(update, 1, (const char *)&edit->value,
                                  sizeof(edit->value), SQLITE_STATIC);
                break;
        case SET_BLOB:
                sqlite3_bind_zeroblob(update, 1, (int)(edit->value % 4096));
                break;
        default:
                break; /* NULL */
        }
}

/* The statement that changes the value named by EDIT; NULL: there is no such table. */
static char *update_sql(sqlite3 *sqlite, const struct edit *edit)
{
        static const char sql[] =
            "SELECT format('UPDATE OR IGNORE %w SET %w = ?1 WHERE rowid IN (SELECT rowid"
            " FROM %w LIMIT 1 OFFSET %d %% max((SELECT count(*) FROM %w), 1))', t.name,"
            " c.name, t.name, ?3, t.name)"
            " FROM (SELECT name, row_number() OVER () AS n, count(*) OVER () AS count"
            "  FROM sqlite_schema WHERE type = 'table') AS t,"
            " (SELECT 1), pragma_table_info(t.name) AS c"
            " WHERE t.n = 1 + ?1 % t.count AND c.cid ="
            " ?2 % (SELECT count(*) FROM pragma_table_info(t.name))";
        sqlite3_stmt *statement;
        char *update = NULL;
        if (sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
                abort();
        sqlite3_bind_int(statement, 1, edit->table);
        sqlite3_bind_int(statement, 2, edit->column);
        sqlite3_bind_int(statement, 3, edit->row);
        if (sqlite3_step(statement) == SQLITE_ROW)
                update = sqlite3_mprintf("%s",
                                         (const char *)sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
        return update;
}

static void change_values(const struct edit *edits, size_t count)
{
        sqlite3 *sqlite;
        if (sqlite3_open(copy_name, &sqlite) != SQLITE_OK ||
            sqlite3_exec(sqlite,
                         "PRAGMA ignore_check_constraints = 1; PRAGMA synchronous = 0;"
                         " PRAGMA journal_mode = OFF; BEGIN",
                         NULL, NULL, NULL) != SQLITE_OK)
                abort();
        for (size_t i = 0; i < count; i++) {
                sqlite3_stmt *update = NULL;
                char *sql = edits[i].kind % KINDS == SET_BYTES
                                ? NULL
                                : update_sql(sqlite, &edits[i]);
                /* Tables without row numbers are left as they are. */
                if (sql &&
                    sqlite3_prepare_v2(sqlite, sql, -1, &update, NULL) == SQLITE_OK) {
                        bind(update, &edits[i]);
                        sqlite3_step(update);
                }
                sqlite3_finalize(update);
                sqlite3_free(sql);
        }
        sqlite3_exec(sqlite, "COMMIT", NULL, NULL, NULL);
        sqlite3_close(sqlite);
}

static void copy_database(void)
{
        static char bytes[1 << 20];
        static size_t size;
        FILE *file;
        if (size == 0) {
                file = fopen(FUZZ_DATABASE, "r");
                size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
                if (size == 0 || size == sizeof(bytes) || fclose(file) != 0)
                        abort();
        }
        remove("fuzz_database-copy.db-wal");
        remove("fuzz_database-copy.db-shm");
        file = fopen(copy_name, "w");
        if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
                abort();
}

/* ---- the target ---- */

enum { EDIT_BYTES = 12, EDITS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        struct edit edits[EDITS_MAX];
        size_t count = 0;
        FILE *output = stdout, *messages = stderr;
        if (size < 1)
                return 0;
        for (size_t at = 1; at + EDIT_BYTES <= size && count < EDITS_MAX;
             at += EDIT_BYTES, count++) {
                memcpy(&edits[count], bytes + at, 4);
                memcpy(&edits[count].value, bytes + at + 4, sizeof(edits->value));
        }
        copy_database();
        change_values(edits, count);
        change_bytes(edits, count);
        stdout = stderr = fopen("/dev/null", "w"); /* not descriptor 2: of sanitizers */
        if (!stdout)
                abort();
        run_command(bytes[0]);
        fclose(stdout);
        stdout = output;
        stderr = messages;
        remove(copy_name);
        return 0;
}
