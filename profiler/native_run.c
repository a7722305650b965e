/* SPDX-License-Identifier: MIT */
/* See native_run.h. Modules of the two runs correspond if they have the same path and
 * build-id. */
#include "native_run.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- the command's input ---- */

static bool is_null_device(const struct stat *input)
{
        struct stat null;
        return S_ISCHR(input->st_mode) && stat("/dev/null", &null) == 0 &&
               null.st_rdev == input->st_rdev;
}

int native_run_input(off_t *offset, struct diag *diag)
{
        struct stat input;
        *offset = -1;
        if (fstat(STDIN_FILENO, &input) != 0 || isatty(STDIN_FILENO) ||
            is_null_device(&input))
                return 0;
        if (S_ISREG(input.st_mode) &&
            (*offset = lseek(STDIN_FILENO, 0, SEEK_CUR)) != (off_t)-1)
                return 0;
        return diag_set(diag, -ESPIPE,
                        "--with-clock runs the command twice, and its standard input can "
                        "be read once only; give it a file, or </dev/null");
}

/* ---- its samples ---- */

struct storing {
        const struct native_run *run;
        struct db *db;
        sqlite3_stmt *identity; /* of a module of the first run */
        sqlite3_stmt *find;
        sqlite3_stmt *make;
        sqlite3_stmt *insert;
        struct diag *diag;
};

static int prepare(struct storing *storing, struct db *db, const char *sql,
                   sqlite3_stmt **statement)
{
        return sqlite3_prepare_v2(db_sqlite(db), sql, -1, statement, NULL)
                   ? db_error(db, "write", storing->diag)
                   : 0;
}

static int prepare_all(struct storing *storing)
{
        int rc = prepare(storing, storing->run->db,
                         "SELECT path, build_id FROM module WHERE module_id = ?1",
                         &storing->identity);
        if (rc == 0)
                rc = prepare(storing, storing->db,
                             "SELECT min(module_id) FROM module"
                             " WHERE path = ?1 AND build_id IS ?2",
                             &storing->find);
        if (rc == 0)
                rc = prepare(storing, storing->db,
                             "INSERT INTO module (path, build_id) VALUES (?1, ?2)",
                             &storing->make);
        return rc == 0 ? prepare(storing, storing->db,
                                 "INSERT INTO clock_sample"
                                 " (module_id, file_offset_bytes, samples)"
                                 " VALUES (?1, ?2, ?3)",
                                 &storing->insert)
                       : rc;
}

static int run(struct storing *storing, sqlite3_stmt *statement)
{
        int rc = sqlite3_step(statement);
        sqlite3_reset(statement);
        return rc == SQLITE_DONE ? 0 : db_error(storing->db, "write", storing->diag);
}

static void bind_identity(const struct storing *storing, sqlite3_stmt *statement)
{
        sqlite3_bind_value(statement, 1, sqlite3_column_value(storing->identity, 0));
        sqlite3_bind_value(statement, 2, sqlite3_column_value(storing->identity, 1));
}

/* Finds the second run's module for module ID of the first run; makes a missing
 * module. */
static int find_module(struct storing *storing, int64_t id, int64_t *found)
{
        int rc = 0;
        sqlite3_bind_int64(storing->identity, 1, id);
        if (sqlite3_step(storing->identity) != SQLITE_ROW)
                return db_error(storing->run->db, "read", storing->diag);
        bind_identity(storing, storing->find);
        *found = sqlite3_step(storing->find) == SQLITE_ROW
                     ? sqlite3_column_int64(storing->find, 0)
                     : 0;
        sqlite3_reset(storing->find);
        if (!*found) {
                bind_identity(storing, storing->make);
                rc = run(storing, storing->make);
                *found = sqlite3_last_insert_rowid(db_sqlite(storing->db));
        }
        sqlite3_reset(storing->identity);
        return rc;
}

static int store_place(struct storing *storing, const struct sink_place_count *count)
{
        int64_t module_id = 0;
        sqlite3_clear_bindings(storing->insert);
        sqlite3_bind_int64(storing->insert, 3, (int64_t)count->samples);
        if (count->place.module_id) {
                int rc = find_module(storing, count->place.module_id, &module_id);
                if (rc < 0)
                        return rc;
                sqlite3_bind_int64(storing->insert, 1, module_id);
                sqlite3_bind_int64(storing->insert, 2,
                                   (int64_t)count->place.file_offset_bytes);
        }
        return run(storing, storing->insert);
}

static int store_places(struct storing *storing)
{
        size_t count;
        const struct sink_place_count *places =
            sink_place_counts(storing->run->sink, &count);
        int rc = prepare_all(storing);
        for (size_t i = 0; rc == 0 && i < count; i++)
                rc = store_place(storing, &places[i]);
        sqlite3_finalize(storing->identity);
        sqlite3_finalize(storing->find);
        sqlite3_finalize(storing->make);
        sqlite3_finalize(storing->insert);
        return rc;
}

/* Instructions that the second run executed: its modules are the database's own. */
static int store_executed(struct storing *storing)
{
        size_t count;
        const struct sink_place_count *places =
            sink_executed_counts(storing->run->simulated, &count);
        int rc = prepare(storing, storing->db,
                         "INSERT INTO instruction_sample"
                         " (module_id, file_offset_bytes, samples) VALUES (?1, ?2, ?3)",
                         &storing->insert);
        for (size_t i = 0; rc == 0 && i < count; i++) {
                sqlite3_clear_bindings(storing->insert);
                if (places[i].place.module_id) {
                        sqlite3_bind_int64(storing->insert, 1, places[i].place.module_id);
                        sqlite3_bind_int64(storing->insert, 2,
                                           (int64_t)places[i].place.file_offset_bytes);
                }
                sqlite3_bind_int64(storing->insert, 3, (int64_t)places[i].samples);
                rc = run(storing, storing->insert);
        }
        sqlite3_finalize(storing->insert);
        return rc;
}

static int store_facts(const struct native_run *run, struct db *db, struct diag *diag)
{
        const struct {
                const char *key;
                int64_t value;
        } facts[] = {
            {"clock_hz", (int64_t)run->frequency_hz},
            {"clock_user_ns", run->end.user_ns},
            {"clock_kernel_ns", run->end.kernel_ns},
            {"clock_duration_ns", sink_latest_ns(run->sink)},
            {"clock_lost", (int64_t)sink_lost(run->sink, "records lost")},
        };
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < sizeof(facts) / sizeof(facts[0]); i++)
                rc = db_run_set_int(db, facts[i].key, facts[i].value, diag);
        return rc;
}

int native_run_store(const struct native_run *run, struct db *db, struct diag *diag)
{
        struct storing storing = {.run = run, .db = db, .diag = diag};
        int rc = db_exec(db, "BEGIN IMMEDIATE", diag);
        if (rc < 0)
                return rc;
        rc = store_places(&storing);
        if (rc == 0)
                rc = store_executed(&storing);
        if (rc == 0)
                rc = store_facts(run, db, diag);
        if (rc == 0)
                rc = db_exec(db, "COMMIT", diag);
        if (rc < 0)
                db_exec(db, "ROLLBACK", NULL);
        return rc;
}
