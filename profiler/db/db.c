/* SPDX-License-Identifier: MIT */
/* Opens sample databases, and accesses the run's keys and the ledger. Knows SQLite's
 * files and the schema's version, not the meaning of rows.
 *
 * A database is in WAL mode during writing: its process may be killed at any time. After
 * a clean close it is one plain file. */
#include "db_internal.h"
#include "file_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "room.h"

/* Also in schema.sql; a new database that disagrees does not open. */
enum { APPLICATION_ID = 0x6d6c6167, OLDEST_VERSION = 8 };

enum { BUSY_TIMEOUT_MS = 5000 };

/* Queries look up the names and locations of samples in random order. 32 MiB hold the
 * names of most programs. The stages and reports read samples sequentially. */
static const char query_cache_size[] = "PRAGMA cache_size = -32768";

/* Gets the integer result of the one-row query SQL. */
static int query_int(const struct db *db, const char *sql, int64_t *value)
{
        sqlite3_stmt *statement;
        int rc = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
        if (rc)
                return rc;
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW)
                *value = sqlite3_column_int64(statement, 0);
        int end = sqlite3_finalize(statement);
        return rc == SQLITE_ROW ? end : rc;
}

/* ---- errors ---- */

int db_errno(int rc)
{
        switch (rc & 0xff) {
        case SQLITE_OK:
                return 0;
        case SQLITE_NOMEM:
                return -ENOMEM;
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_IOERR:
                return -EIO;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                return -EBUSY;
        case SQLITE_READONLY:
                return -EROFS;
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
        case SQLITE_AUTH:
                return -EACCES;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
                return -EBADMSG;
        default:
                return -EINVAL;
        }
}

const char *db_limit_remedy(int code)
{
        switch (code) {
        case EMFILE:
                return "; allow more open files (ulimit -n)";
        case EFBIG:
                return "; allow larger files (ulimit -f)";
        default:
                return "";
        }
}

/* Whether SQLite refuses to grow the file because the kernel would (batch.c). */
static bool is_at_file_limit(const struct db *db)
{
        const uint64_t limit = file_limit_bytes();
        int64_t pages = 0;
        return limit != UINT64_MAX &&
               query_int(db, "PRAGMA page_count", &pages) == SQLITE_OK &&
               (uint64_t)pages * ROOM_PAGE_BYTES + 2 * ROOM_FACTS_BYTES > limit;
}

int db_error(const struct db *db, const char *action, struct diag *diag)
{
        int rc = sqlite3_errcode(db->sqlite);
        const char *message = sqlite3_errmsg(db->sqlite);
        const char *remedy = "";
        int system_code;
        switch (rc & 0xff) {
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
                system_code = sqlite3_system_errno(db->sqlite);
                if (system_code) {
                        message = strerror(system_code);
                        remedy = db_limit_remedy(system_code);
                } else if ((rc & 0xff) == SQLITE_IOERR) {
                        remedy =
                            "; a limit on file sizes (ulimit -f) or a failing device";
                }
                break;
        case SQLITE_FULL:
                message = "no space left on the device; free some, or use another place";
                if (is_at_file_limit(db)) {
                        message = strerror(EFBIG);
                        remedy = db_limit_remedy(EFBIG);
                }
                break;
        case SQLITE_BUSY:
                message = "another process is using it; wait until that has ended";
                break;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
                message = DB_DAMAGED_TEXT;
                break;
        case SQLITE_ERROR:
                /* A statement of ours that does not compile meets another's schema. */
                remedy = "; another memlag made it, or it was changed: record again";
                break;
        default:
                break;
        }
        return diag_set(diag, db_errno(rc), "cannot %s %s: %s%s", action, db->path,
                        message, remedy);
}

/* ---- the connection ---- */

char *db_file_name(const char *path)
{
        return sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
}

/* As a URI that promises SQLite that nobody changes the file. */
static char *immutable_uri(const char *path)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789/._-";
        char *name = db_file_name(path);
        char *uri = name
                        ? sqlite3_malloc64(3 * strlen(name) + sizeof("file:?immutable=1"))
                        : NULL;
        if (uri) {
                char *end = stpcpy(uri, "file:");
                for (const char *c = name; *c; c++)
                        if (strchr(plain, *c))
                                *end++ = *c;
                        else
                                end += sprintf(end, "%%%02X", (unsigned char)*c);
                strcpy(end, "?immutable=1");
        }
        sqlite3_free(name);
        return uri;
}

void db_free(struct db *db)
{
        if (!db)
                return;
        sqlite3_close_v2(db->sqlite);
        if (db->lock >= 0)
                close(db->lock); /* not before: it would end SQLite's locks, too */
        free(db->path);
        free(db);
}

struct db *db_new(const char *path, enum db_access access)
{
        /* Must precede the first use of SQLite; refused later. Memory statistics are
         * unused, and take a lock for each row. */
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        struct db *db = calloc(1, sizeof(*db));
        if (!db)
                return NULL;
        db->access = access;
        db->lock = -1;
        db->path = strdup(path);
        if (!db->path) {
                free(db);
                return NULL;
        }
        return db;
}

int db_connect(struct db *db, char *name, int flags)
{
        sqlite3_close_v2(db->sqlite);
        db->sqlite = NULL;
        if (!name)
                return SQLITE_NOMEM;
        int rc = sqlite3_open_v2(name, &db->sqlite, flags | SQLITE_OPEN_NOMUTEX, NULL);
        sqlite3_free(name);
        if (rc)
                return rc;
        sqlite3_busy_timeout(db->sqlite, BUSY_TIMEOUT_MS);
        /* The file is untrusted: its schema gets no special rights. */
        sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        return SQLITE_OK;
}

/* Returns true if a log exists beside DB's file. */
static bool has_wal(const struct db *db)
{
        const char *name = sqlite3_db_filename(db->sqlite, "main");
        struct stat status;
        return name && stat(sqlite3_filename_wal(name), &status) == 0;
}

/* SQLite does not attach to a file in WAL mode in a directory that it may not write;
 * where there is no log, nothing is missed by not attaching. */
static bool needs_no_log(const struct db *db)
{
        int rc = sqlite3_extended_errcode(db->sqlite);
        return (rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY_DIRECTORY ||
                rc == SQLITE_READONLY_CANTINIT) &&
               !has_wal(db);
}

/* Connects, and reads the application id, which is the first access to the file. */
static int connect_and_identify(struct db *db, int64_t *application_id)
{
        static const char sql[] = "PRAGMA application_id";
        int flags =
            db->access == DB_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
        int rc = db_connect(db, db_file_name(db->path), flags);
        if (!rc)
                rc = query_int(db, sql, application_id);
        if (db->access == DB_READ_ONLY && needs_no_log(db)) {
                rc = db_connect(db, immutable_uri(db->path), flags | SQLITE_OPEN_URI);
                if (!rc)
                        rc = query_int(db, sql, application_id);
        }
        return rc;
}

static int check_regular_file(const char *path, struct diag *diag)
{
        struct stat status;
        if (!*path)
                return diag_set(diag, -ENOENT,
                                "the name of the database is empty; without one it is "
                                "memlag.db");
        if (stat(path, &status)) {
                int code = -errno;
                return diag_set(diag, code, "cannot open %s: %s%s", path, strerror(-code),
                                code == -ENOENT ? "; memlag record makes one" : "");
        }
        if (!S_ISREG(status.st_mode))
                return diag_set(diag, -EINVAL,
                                "%s is not a memlag database: it is not a regular file",
                                path);
        return 0;
}

static int not_a_database(const struct db *db, struct diag *diag)
{
        return diag_set(diag, -EINVAL,
                        "%s is not a memlag database; 'memlag record' makes one, and "
                        "'memlag import' one of perf.data",
                        db->path);
}

static int identification_error(const struct db *db, int rc, struct diag *diag)
{
        switch (rc) {
        case SQLITE_NOTADB:
                return not_a_database(db, diag);
        case SQLITE_CANTOPEN:
                if (access(db->path, R_OK) == 0 && has_wal(db))
                        return diag_set(
                            diag, -EACCES,
                            "cannot open %s: its log %s-wal needs a directory "
                            "that can be written; copy both files to one",
                            db->path, db->path);
                return diag_set(diag, -EACCES, "cannot open %s: permission denied",
                                db->path);
        case SQLITE_READONLY:
                return diag_set(
                    diag, -EROFS,
                    "cannot read %s: its last writer was stopped while closing "
                    "it; 'memlag analyze %s' completes it",
                    db->path, db->path);
        default:
                return db_error(db, "open", diag);
        }
}

int db_connect_existing(struct db *db, struct diag *diag)
{
        int code = check_regular_file(db->path, diag);
        if (code)
                return code;
        int64_t application_id = 0;
        int rc = connect_and_identify(db, &application_id);
        if (rc)
                return identification_error(db, rc, diag);
        if (application_id != APPLICATION_ID)
                return not_a_database(db, diag);
        return 0;
}

int db_read_version(struct db *db, int64_t *version, struct diag *diag)
{
        int64_t tables;
        /* The second makes SQLite read all of the schema: a cut-off file ends here. */
        if (query_int(db, "PRAGMA user_version", version) ||
            query_int(db, "SELECT count(*) FROM sqlite_schema", &tables))
                return db_error(db, "read", diag);
        if (*version > DB_SCHEMA_VERSION)
                return diag_set(diag, -EPROTO,
                                "%s has schema version %" PRId64
                                ", newer than the version %d that this memlag knows; use "
                                "the memlag that made it",
                                db->path, *version, DB_SCHEMA_VERSION);
        if (*version < 1)
                return diag_set(diag, -EBADMSG,
                                "%s is damaged: there is no schema version %" PRId64,
                                db->path, *version);
        if (*version < OLDEST_VERSION)
                return diag_set(diag, -EPROTO,
                                "%s has schema version %" PRId64
                                ", older than the version %d that this memlag still "
                                "reads; record again, or use the memlag that made it",
                                db->path, *version, OLDEST_VERSION);
        return 0;
}

/* Leaving the log's mode would wait for readers. */
static const char has_log_sql[] = "SELECT journal_mode = 'wal' FROM pragma_journal_mode";

int db_prepare_for_writing(struct db *db, struct diag *diag)
{
        if (sqlite3_db_readonly(db->sqlite, "main")) {
                int reason = access(db->path, W_OK) < 0 ? errno : EACCES;
                return diag_set(diag, -reason,
                                "cannot write %s: %s; copy it to a place that you may "
                                "write",
                                db->path, strerror(reason));
        }
        int64_t version, has_log = 0;
        sqlite3_wal_autocheckpoint(db->sqlite, ROOM_LOG_PAGES);
        if (query_int(db, has_log_sql, &has_log) ||
            (!has_log &&
             sqlite3_exec(db->sqlite, DB_WITHOUT_JOURNAL, NULL, NULL, NULL)) ||
            sqlite3_exec(db->sqlite,
                         "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL,
                         NULL, NULL) ||
            query_int(db, "PRAGMA user_version", &version)) /* attaches to the log */
                return db_error(db, "write", diag);
        return 0;
}

int db_hand_over(struct db *db, int code, struct db **result)
{
        if (code) {
                db_free(db);
                db = NULL;
        }
        *result = db;
        return code;
}

static int too_old(const struct db *db, int64_t version, struct diag *diag)
{
        return diag_set(diag, -ESTALE,
                        "%s is of an older memlag (schema version %" PRId64
                        ", now %d): 'memlag analyze %s' brings it up to date",
                        db->path, version, DB_SCHEMA_VERSION, db->path);
}

int db_open(const char *path, enum db_access access, struct db **result,
            struct diag *diag)
{
        *result = NULL;
        struct db *db = db_new(path, access);
        if (!db)
                return diag_set(diag, -ENOMEM, "cannot open %s: no memory", path);
        int64_t version = 0;
        int code = db_connect_existing(db, diag);
        if (!code)
                code = db_read_version(db, &version, diag);
        if (!code)
                code = db_check_definitions(db, diag);
        if (!code && access == DB_READ_WRITE)
                code = db_check(db, diag);
        if (!code && access == DB_READ_WRITE)
                code = db_prepare_for_writing(db, diag);
        if (!code && access == DB_READ_WRITE)
                code = db_migrate(db, version, diag);
        else if (!code && version < DB_SCHEMA_VERSION)
                code = too_old(db, version, diag);
        return db_hand_over(db, code, result);
}

int db_keep_more(struct db *db, struct diag *diag)
{
        if (sqlite3_exec(db->sqlite, query_cache_size, NULL, NULL, NULL))
                return db_error(db, "read", diag);
        return 0;
}

void db_close(struct db *db)
{
        if (!db)
                return;
        if (db->access == DB_READ_WRITE) {
                if (!sqlite3_get_autocommit(db->sqlite))
                        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
                /* Checkpoints the log into the file, and leaves WAL mode. Fails when the
                 * disk is full or a reader is active. Then the log stays beside the
                 * file, nothing is lost, and the next writer checkpoints. */
                sqlite3_exec(db->sqlite, DB_WITHOUT_JOURNAL, NULL, NULL, NULL);
        }
        db_free(db);
}

/* ---- statements ---- */

struct sqlite3 *db_sqlite(struct db *db)
{
        return db->sqlite;
}

int db_exec(struct db *db, const char *sql, struct diag *diag)
{
        if (sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL))
                return db_error(db, "write", diag);
        return 0;
}

/* Prepares SQL and binds KEY to its first parameter. */
static sqlite3_stmt *prepare_keyed(struct db *db, const char *sql, const char *key)
{
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL) == SQLITE_OK)
                sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
        return statement;
}

/* Runs STATEMENT, which gives no rows, to its end and frees it. NULL: it could not
 * be prepared. */
static int finish(struct db *db, sqlite3_stmt *statement, struct diag *diag)
{
        int rc = statement ? sqlite3_step(statement) : SQLITE_ERROR;
        int code = rc == SQLITE_DONE ? 0 : db_error(db, "write", diag);
        sqlite3_finalize(statement);
        return code;
}

static const char set_run_key[] = "INSERT INTO run (key, value) VALUES (?1, ?2) "
                                  "ON CONFLICT DO UPDATE SET value = excluded.value";
static const char get_run_key[] = "SELECT value FROM run WHERE key = ?1";

int db_run_set_text(struct db *db, const char *key, const char *value, struct diag *diag)
{
        sqlite3_stmt *statement = prepare_keyed(db, set_run_key, key);
        if (statement)
                sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
        return finish(db, statement, diag);
}

int db_run_set_int(struct db *db, const char *key, int64_t value, struct diag *diag)
{
        sqlite3_stmt *statement = prepare_keyed(db, set_run_key, key);
        if (statement)
                sqlite3_bind_int64(statement, 2, value);
        return finish(db, statement, diag);
}

char *db_run_text(struct db *db, const char *key)
{
        char *copy = NULL;
        sqlite3_stmt *statement = prepare_keyed(db, get_run_key, key);
        if (statement && sqlite3_step(statement) == SQLITE_ROW) {
                const unsigned char *text = sqlite3_column_text(statement, 0);
                if (text)
                        copy = strdup((const char *)text);
        }
        sqlite3_finalize(statement);
        return copy;
}

int64_t db_run_int(struct db *db, const char *key, int64_t fallback)
{
        int64_t value = fallback;
        sqlite3_stmt *statement = prepare_keyed(db, get_run_key, key);
        if (statement && sqlite3_step(statement) == SQLITE_ROW)
                value = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        return value;
}

int db_sample_count(struct db *db, int64_t *count, struct diag *diag)
{
        sqlite3_stmt *statement;
        int rc = sqlite3_prepare_v2(db->sqlite, "SELECT count(*) FROM sample", -1,
                                    &statement, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW)
                *count = sqlite3_column_int64(statement, 0);
        rc = rc == SQLITE_ROW ? 0 : db_error(db, "read", diag);
        sqlite3_finalize(statement);
        return rc;
}

int db_ledger_set(struct db *db, const char *stage, const char *kind, int64_t value,
                  const char *unit, struct diag *diag)
{
        const char *sql = value == 0 ? "DELETE FROM ledger WHERE stage = ?1 AND kind = ?2"
                                     : "INSERT INTO ledger (stage, kind, value, unit) "
                                       "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE "
                                       "SET value = excluded.value, unit = excluded.unit";
        sqlite3_stmt *statement = prepare_keyed(db, sql, stage);
        if (statement)
                sqlite3_bind_text(statement, 2, kind, -1, SQLITE_STATIC);
        if (statement && value != 0) {
                sqlite3_bind_int64(statement, 3, value);
                sqlite3_bind_text(statement, 4, unit, -1, SQLITE_STATIC);
        }
        return finish(db, statement, diag);
}

int db_clear_findings(struct db *db, struct diag *diag)
{
        return db_exec(
            db,
            "DELETE FROM object_gain_finding; DELETE FROM prefetch_finding;"
            "DELETE FROM gain_finding; DELETE FROM line_clock_finding;"
            "DELETE FROM function_clock_finding; DELETE FROM object_clock_finding;"
            "DELETE FROM clock_agreement_finding; DELETE FROM certainty_finding;"
            "DELETE FROM caller_finding; DELETE FROM allocation_finding;"
            "DELETE FROM line_asker_finding;"
            "DELETE FROM line_object_finding; DELETE FROM object_finding;"
            "DELETE FROM field_finding;"
            "DELETE FROM function_finding; DELETE FROM line_finding;"
            "DELETE FROM interval; DELETE FROM threshold;"
            "DELETE FROM ledger WHERE stage = 'analysis';",
            diag);
}

int db_module_build_id(struct db *db, const char *path, const uint8_t *build_id,
                       size_t length, struct diag *diag)
{
        sqlite3_stmt *statement = prepare_keyed(
            db,
            "UPDATE module SET build_id = ?2 WHERE path = ?1 AND build_id IS NULL "
            "AND NOT EXISTS (SELECT 1 FROM module WHERE path = ?1 AND build_id = ?2)",
            path);
        if (statement)
                sqlite3_bind_blob(statement, 2, build_id, (int)length, SQLITE_STATIC);
        return finish(db, statement, diag);
}
