/* SPDX-License-Identifier: MIT */
/* The database as a file: created, opened, refused, replaced. */
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>

#include "db_test.h"
#include "file_limit.h"

static bool exists(const char *path)
{
        return access(path, F_OK) == 0;
}

static void assert_refused(const char *path, enum db_access access, int code,
                           const char *reason)
{
        struct diag diag;
        struct db *db;
        assert_int_equal(db_open(path, access, &db, &diag), code);
        assert_null(db);
        assert_non_null(strstr(diag.text, path));
        if (!strstr(diag.text, reason))
                fail_msg("'%s' does not say '%s'", diag.text, reason);
}

static void assert_not_created(const char *path, bool force, int code, const char *reason)
{
        struct diag diag;
        struct db *db;
        assert_int_equal(db_create(path, force, &db, &diag), code);
        if (!strstr(diag.text, reason))
                fail_msg("'%s' does not say '%s'", diag.text, reason);
}

static void replace(const char *path)
{
        struct db *db;
        assert_ok(db_create(path, true, &db, NULL));
        db_close(db);
}

static struct db *open_db(const char *path, enum db_access access)
{
        struct diag diag;
        struct db *db;
        if (db_open(path, access, &db, &diag))
                fail_msg("%s", diag.text);
        return db;
}

/* Opens a.db to write and closes it. */
static void reopen(void)
{
        db_close(open_db("a.db", DB_READ_WRITE));
}

static void set_text(struct db *db, const char *key, const char *value)
{
        assert_ok(db_run_set_text(db, key, value, NULL));
}

/* A recorder killed at any time leaves no database that looks complete. */
TEST(new_database_is_one_plain_file_of_an_unfinished_recording)
{
        db_close(create_db("a.db"));
        assert_false(exists("a.db-wal"));
        assert_false(exists("a.db-shm"));
        expect("PRAGMA journal_mode", "delete");
        expect("PRAGMA integrity_check", "ok");
        expect_int("PRAGMA user_version", 9);
        expect_int("PRAGMA application_id", 0x6d6c6167);
        expect("SELECT value FROM run WHERE key = 'state'", "recording");
}

/* Sets the file limit in a child process. 0: its files are limited to BYTES. */
static int limited_to(rlim_t bytes, rlim_t before, uint64_t database_bytes)
{
        struct rlimit limit = {before, RLIM_INFINITY};
        int status;
        pid_t child = fork();
        if (child == 0) {
                setrlimit(RLIMIT_FSIZE, &limit);
                file_limit_set(database_bytes);
                getrlimit(RLIMIT_FSIZE, &limit);
                _exit(limit.rlim_cur != bytes);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        return status;
}

TEST(files_of_readers_are_limited)
{
        const rlim_t gib = 1 << 30;
        write_text("ten", "0123456789");
        assert_int_equal(file_limit_size("ten"), 10);
        assert_int_equal(file_limit_size("."), 0);
        assert_int_equal(limited_to(gib + 640, RLIM_INFINITY, 10), 0);
        assert_int_equal(limited_to(4096, 4096, 10), 0);
        assert_int_equal(limited_to(RLIM_INFINITY, RLIM_INFINITY, UINT64_MAX), 0);
}

TEST(every_table_is_strict)
{
        db_close(create_db("a.db"));
        static const char tables[] = "SELECT count(*) FROM pragma_table_list"
                                     " WHERE schema = 'main' AND type = 'table'"
                                     " AND name NOT LIKE 'sqlite_%'";
        assert_true(plain_int("a.db", tables) > 10);
        expect_int(text_of("%s AND NOT strict", tables), 0);
}

TEST(existing_database_is_replaced_only_by_force)
{
        struct db *db = create_db("a.db");
        set_text(db, "command", "first");
        db_close(db);

        assert_not_created("a.db", false, -EEXIST, "--force");
        expect("SELECT value FROM run", "first");
        /* No hint at --force for a file that --force does not replace. */
        assert_not_created(".", false, -EEXIST, "is a directory");
        struct diag diag;
        write_text("other", "not a database");
        assert_int_equal(db_create("other", false, &db, &diag), -EEXIST);
        assert_null(strstr(diag.text, "--force"));

        replace("a.db");
        expect_count("run WHERE key = 'command'", 0);
}

TEST(database_in_use_is_not_replaced)
{
        struct db *recording = create_db("a.db");
        assert_not_created("a.db", true, -EBUSY, "");
        set_text(recording, "command", "going on");
        db_close(recording);
        expect("SELECT value FROM run", "going on");
}

/* Another process has just made the file, and has not yet written to it. */
TEST(claimed_file_is_not_replaced)
{
        int claimed = open("a.db", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        assert_true(claimed >= 0);
        assert_ok(flock(claimed, LOCK_EX));
        assert_not_created("a.db", true, -EBUSY, "another process");
        struct stat named, opened;
        assert_ok(stat("a.db", &named));
        assert_ok(fstat(claimed, &opened));
        assert_int_equal(named.st_ino, opened.st_ino);
        close(claimed);
        replace("a.db");
}

TEST(foreign_files_are_refused_and_kept)
{
        write_text("letter.txt", "Dear Sir or Madam, this is no database at all.\n");
        assert_refused("letter.txt", DB_READ_ONLY, -EINVAL, "not a memlag database");
        assert_not_created("letter.txt", true, -EINVAL, "");
        struct stat status;
        assert_ok(stat("letter.txt", &status));
        assert_int_equal(status.st_size, 47);

        write_text("cookies.db", "");
        plain_exec("cookies.db", "CREATE TABLE t (x); INSERT INTO t VALUES (42)");
        assert_refused("cookies.db", DB_READ_WRITE, -EINVAL, "not a memlag database");
        assert_not_created("cookies.db", true, -EINVAL, "");
        assert_int_equal(plain_int("cookies.db", "SELECT x FROM t"), 42);
}

TEST(things_that_are_no_files_are_refused)
{
        mkdir("directory", 0700);
        mkfifo("pipe", 0600);
        assert_refused("nothing.db", DB_READ_ONLY, -ENOENT, "memlag record");
        assert_refused("directory", DB_READ_ONLY, -EINVAL, "not a regular file");
        assert_refused("pipe", DB_READ_ONLY, -EINVAL, "not a regular file");
        assert_not_created("directory", true, -EINVAL, "");
        assert_not_created("no/such/place.db", false, -ENOENT, "no/such/place.db");
        assert_not_created("", false, -ENOENT, "");
}

TEST(unknown_versions_are_refused)
{
        static const struct {
                int version, code;
                const char *remedy;
        } cases[] = {{999, -EPROTO, "use the memlag that made it"},
                     {7, -EPROTO, "record again"},
                     {1, -EPROTO, "record again"},
                     {0, -EBADMSG, "damaged"}};
        db_close(create_db("a.db"));
        for (size_t i = 0; i < LENGTH(cases); i++) {
                plain_exec("a.db", text_of("PRAGMA user_version = %d", cases[i].version));
                assert_refused("a.db", DB_READ_ONLY, cases[i].code, cases[i].remedy);
                assert_refused("a.db", DB_READ_WRITE, cases[i].code, cases[i].remedy);
        }
}

/* A database of version 8 with rows of all stages, and a table and a view of the user. */
static void make_version_8(const char *path)
{
        static char sql[1 << 16];
        FILE *file = fopen(SCHEMA_8, "r");
        assert_non_null(file);
        sql[fread(sql, 1, sizeof(sql) - 1, file)] = '\0';
        fclose(file);
        write_text(path, "");
        plain_exec(path, sql);
        plain_exec(path,
                   "INSERT INTO process VALUES (1, 77, NULL, '/bin/true', 0, NULL);"
                   "INSERT INTO thread (thread_id, process_id, tid, start_ns)"
                   " VALUES (1, 1, 77, 0);"
                   "INSERT INTO sample (sample_id, time_ns, thread_id, ip)"
                   " VALUES (1, 5, 1, 4096), (2, 6, 1, 4100);"
                   "INSERT INTO stack_node VALUES (1, NULL, 1, 16), (2, 1, 1, 32);"
                   "INSERT INTO allocation_site VALUES (2, 'malloc', 3, 48, 32);"
                   "INSERT INTO name VALUES (1, 'main');"
                   "INSERT INTO code_location VALUES (1, NULL, 4096, 1, NULL, 7);"
                   "INSERT INTO node_location VALUES (2, 1);"
                   "INSERT INTO attribution (sample_id, location_id) VALUES (1, 1);"
                   "INSERT INTO ledger VALUES ('symbolize', 'no line', 2, 'samples'),"
                   " ('analysis', 'x', 1, 'lines');"
                   "INSERT INTO line_finding VALUES (1);"
                   "CREATE VIEW line_view AS SELECT line FROM line_finding;"
                   "CREATE VIEW my_functions AS SELECT function FROM location;"
                   "CREATE TABLE mine (what TEXT);"
                   "INSERT INTO mine VALUES ('kept')");
}

#define COLUMNS_OF(schema)                                                               \
        "SELECT t.type, t.name, c.name, c.type, c.\"notnull\", c.pk FROM " schema        \
        ".sqlite_schema AS t, pragma_table_info(t.name, '" schema "') AS c"              \
        " WHERE t.name NOT LIKE 'sqlite%' AND t.name NOT IN ('mine', 'my_functions')"

/* All tables and views of A, except the user's, have the same columns in B. */
static void assert_same_shape(const char *a, const char *b)
{
        static const char *const sql[] = {
            "SELECT count(*) FROM (" COLUMNS_OF("main") ")",
            "SELECT count(*) FROM (" COLUMNS_OF("main") " EXCEPT " COLUMNS_OF("b") ")",
            "SELECT count(*) FROM (" COLUMNS_OF("b") " EXCEPT " COLUMNS_OF("main") ")",
        };
        int counts[3];
        sqlite3 *sqlite = plain_open(a);
        const char *attach = text_of("ATTACH '%s' AS b", b);
        assert_ok(sqlite3_exec(sqlite, attach, NULL, NULL, NULL));
        for (size_t i = 0; i < 3; i++) {
                sqlite3_stmt *row;
                assert_ok(sqlite3_prepare_v2(sqlite, sql[i], -1, &row, NULL));
                assert_int_equal(sqlite3_step(row), SQLITE_ROW);
                counts[i] = sqlite3_column_int(row, 0);
                sqlite3_finalize(row);
        }
        sqlite3_close(sqlite);
        assert_true(counts[0] > 100);
        assert_int_equal(counts[1], 0);
        assert_int_equal(counts[2], 0);
}

/* Version 8 had no page faults and set conflicts. Findings are deleted, because analysis
 * makes them again; all other rows stay. */
TEST(older_version_is_migrated)
{
        make_version_8("a.db");
        assert_refused("a.db", DB_READ_ONLY, -ESTALE, "memlag analyze a.db");
        reopen();
        expect_int("PRAGMA user_version", 9);
        expect_count("sample", 2);
        expect("SELECT function || line FROM attribution JOIN location"
               " USING (location_id)",
               "main7");
        expect_int("SELECT sum(stack_id * ip) FROM stack", 80);
        expect_int("SELECT allocations + total_bytes + peak_bytes FROM allocation_total "
                   "JOIN stack_location USING (stack_id) WHERE function = 'malloc' AND "
                   "location_id = 1",
                   83);
        expect_count("line_finding", 0);
        expect("SELECT group_concat(stage) FROM ledger", "symbolize");
        expect("SELECT max(function) FROM my_functions", "main");
        expect("SELECT what FROM mine", "kept");
        expect("PRAGMA integrity_check", "ok");
        db_close(create_db("new.db"));
        assert_same_shape("a.db", "new.db");
        db_close(open_db("a.db", DB_READ_ONLY));
}

/* Tables of the current shape are not rebuilt; the user's additions stay. */
TEST(present_version_keeps_its_findings)
{
        db_close(create_db("a.db"));
        plain_exec("a.db", "ALTER TABLE sample ADD COLUMN weight INTEGER;"
                           "CREATE VIEW line_view AS SELECT line FROM line_finding;"
                           "INSERT INTO line_finding (line_id, samples, dram_samples,"
                           " verdict, level_samples) VALUES (1, 1, 0, 'none', 1);");
        reopen();
        expect_count("line_view", 1);
}

/* The second process finds the migration done, or gets -EBUSY. */
TEST(two_processes_migrate_once)
{
        for (int turn = 0; turn < 4; turn++) {
                int status;
                struct diag diag;
                struct db *db;
                make_version_8("a.db");
                pid_t child = fork();
                int code = db_open("a.db", DB_READ_WRITE, &db, &diag);
                db_close(db);
                if (child == 0)
                        _exit(code != 0 && code != -EBUSY);
                assert_true(code == 0 || code == -EBUSY);
                assert_int_equal(waitpid(child, &status, 0), child);
                assert_int_equal(status, 0);
                reopen();
                expect_int("PRAGMA user_version", 9);
                expect_count("name", 1);
                assert_ok(unlink("a.db"));
        }
}

TEST(older_version_of_another_shape_stays_as_it_is)
{
        make_version_8("a.db");
        plain_exec("a.db", "ALTER TABLE sample ADD COLUMN weight INTEGER");
        assert_refused("a.db", DB_READ_WRITE, -EPROTO, "'sample'");
        expect_int("PRAGMA user_version", 8);
        expect("SELECT function FROM location", "main");
}

/* SQLite would not notice: it reads other tables without reading the damaged page. */
TEST(damaged_file_is_not_written)
{
        db_close(create_db("a.db"));
        int64_t page = plain_int(
            "a.db", "SELECT rootpage FROM sqlite_schema WHERE name = 'reading'");
        int64_t page_bytes = plain_int("a.db", "PRAGMA page_size");
        FILE *file = fopen("a.db", "r+e");
        assert_non_null(file);
        assert_ok(fseek(file, (page - 1) * page_bytes, SEEK_SET));
        for (int64_t i = 0; i < page_bytes; i++)
                fputc('x', file);
        assert_ok(fclose(file));
        struct stat before, after;
        assert_ok(stat("a.db", &before));
        assert_refused("a.db", DB_READ_WRITE, -EBADMSG, "damaged");
        assert_ok(stat("a.db", &after));
        assert_int_equal(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
        assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
        assert_false(exists("a.db-wal"));
}

/* Objects that version 8 lacked are created. A dropped table is not recreated empty. */
TEST(database_without_a_recorded_table_is_not_written)
{
        static const char *const recorded[] = {
            "reading",      "allocation",         "module_file",
            "stack_access", "other_stack_access", "sample"};
        for (size_t i = 0; i < LENGTH(recorded); i++) {
                db_close(create_db("a.db"));
                plain_exec("a.db", text_of("DROP TABLE %s", recorded[i]));
                assert_refused("a.db", DB_READ_WRITE, -EBADMSG, recorded[i]);
                expect_int(text_of("SELECT count(*) FROM sqlite_schema WHERE name = '%s'",
                                   recorded[i]),
                           0);
                assert_ok(unlink("a.db"));
        }
        db_close(create_db("a.db"));
        plain_exec("a.db", "DROP TABLE wide_field; DROP VIEW stack;"
                           " DROP VIEW allocation_total");
        reopen();
}

/* A trigger does not run; opening to write reports it. */
TEST(trigger_is_not_run_and_is_told)
{
        db_close(create_db("a.db"));
        struct db *db = open_db("a.db", DB_READ_WRITE);
        plain_exec("a.db", "CREATE TRIGGER mine AFTER INSERT ON run BEGIN"
                           " DELETE FROM machine; END;"
                           "INSERT INTO machine VALUES ('a', 1, 'b', 'c')");
        set_text(db, "command", "a");
        db_close(db);
        expect_count("machine WHERE key = 'a'", 1);
        assert_refused("a.db", DB_READ_WRITE, -EBADMSG, "triggers (mine)");
        db_close(open_db("a.db", DB_READ_ONLY));
        plain_exec("a.db", "DROP TRIGGER mine");
        reopen();
}

TEST(truncated_file_is_damaged)
{
        db_close(create_db("a.db"));
        struct stat status;
        assert_ok(stat("a.db", &status));
        assert_ok(truncate("a.db", status.st_size / 2));
        assert_refused("a.db", DB_READ_ONLY, -EBADMSG, "damaged");
        assert_refused("a.db", DB_READ_WRITE, -EBADMSG, "damaged");
        assert_ok(truncate("a.db", 60));
        assert_refused("a.db", DB_READ_ONLY, -EINVAL, "not a memlag database");
}

/* SQLite takes such names for something other than a file. */
TEST(names_are_only_names)
{
        static const char *const names[] = {":memory:", "file:x?mode=memory",
                                            "50% of #1?.db"};
        for (size_t i = 0; i < LENGTH(names); i++) {
                db_close(create_db(names[i]));
                assert_true(exists(names[i]));
                db_close(open_db(names[i], DB_READ_ONLY));
        }
}

TEST(run_keys_and_ledger_are_kept)
{
        struct diag diag;
        struct db *db = create_db("a.db");
        set_text(db, "command", "./a.out");
        assert_ok(db_run_set_int(db, "exit_status", 1, &diag));
        assert_ok(db_run_set_int(db, "exit_status", 3, &diag));
        assert_ok(db_ledger_set(db, "record", "lost", 7, "records", &diag));
        assert_ok(db_ledger_set(db, "record", "gone", 7, "records", &diag));
        assert_ok(db_ledger_set(db, "record", "gone", 0, "records", &diag));
        db_close(db);

        db = open_db("a.db", DB_READ_ONLY);
        char *command = db_run_text(db, "command");
        assert_string_equal(command, "./a.out");
        free(command);
        assert_null(db_run_text(db, "no such key"));
        assert_int_equal(db_run_int(db, "exit_status", -1), 3);
        assert_int_equal(db_run_int(db, "no such key", -1), -1);
        assert_true(db_run_set_int(db, "exit_status", 4, &diag) < 0);
        db_close(db);
        expect("SELECT group_concat(stage || kind || value || unit) FROM ledger",
               "recordlost7records");
}

/* ---- without the right to write ---- */

/* Runs STEP in a child that may read this directory and not write it. The
 * permissions of root bind nobody, so root becomes someone else first. */
static void as_reader(int (*step)(void))
{
        assert_ok(chmod(".", 0555));
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
                        _exit(99);
                _exit(step());
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_ok(chmod(".", 0755));
        assert_int_equal(status, 0);
}

static int read_command(void)
{
        struct diag diag;
        struct db *db;
        if (db_open("a.db", DB_READ_ONLY, &db, &diag)) {
                fprintf(stderr, "%s\n", diag.text);
                return 1;
        }
        char *command = db_run_text(db, "command");
        int result = command && strcmp(command, "./a.out") == 0 ? 0 : 2;
        free(command);
        db_close(db);
        return result;
}

/* Makes a.db. DIES: its recorder ends without closing the database. */
static void record_command(bool dies)
{
        pid_t pid = dies ? fork() : 0;
        assert_true(pid >= 0);
        if (pid == 0) {
                struct db *db = create_db("a.db");
                db_run_set_text(db, "command", "./a.out", NULL);
                if (dies)
                        _exit(0);
                db_close(db);
                return;
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(database_is_readable_where_nothing_can_be_written)
{
        record_command(false);
        as_reader(read_command);
        plain_exec("a.db", "PRAGMA journal_mode = WAL");
        assert_false(exists("a.db-wal"));
        as_reader(read_command);
}

TEST(database_of_a_dead_writer_is_readable_where_nothing_can_be_written)
{
        record_command(true);
        assert_true(exists("a.db-wal"));
        as_reader(read_command);
}

static int create_here(void)
{
        struct diag diag;
        struct db *db;
        return db_create("b.db", false, &db, &diag) == -EACCES &&
                       strstr(diag.text, "b.db") && strstr(diag.text, "-o")
                   ? 0
                   : 1;
}

static int write_command(void)
{
        struct diag diag;
        struct db *db;
        return db_open("a.db", DB_READ_WRITE, &db, &diag) == -EACCES ? 0 : 1;
}

TEST(writing_without_permission_is_an_error)
{
        as_reader(create_here);
        db_close(create_db("a.db"));
        assert_ok(chmod("a.db", 0444));
        as_reader(write_command);
}

TEST(next_writer_tidies_up_after_a_dead_one)
{
        record_command(true);
        reopen();
        assert_false(exists("a.db-wal"));
        assert_false(exists("a.db-shm"));
        expect("SELECT value FROM run", "./a.out");
}

/* Whether WATCH has seen a new file whose name ends with SUFFIX. */
static bool was_made(int watch, const char *suffix)
{
        union {
                struct inotify_event event;
                char bytes[4096];
        } buffer;
        bool made = false;
        ssize_t length;
        while ((length = read(watch, &buffer, sizeof(buffer))) > 0)
                for (char *next = buffer.bytes; next < buffer.bytes + length;) {
                        const struct inotify_event *event = (void *)next;
                        const char *end =
                            event->name + strlen(event->name) - strlen(suffix);
                        made |= end >= event->name && strcmp(end, suffix) == 0;
                        next += sizeof(*event) + event->len;
                }
        return made;
}

/* A killed writer leaves no journal. A reader may lack the right to roll one back. */
TEST(opening_and_closing_needs_no_journal)
{
        db_close(create_db("a.db"));
        int watch = inotify_init1(IN_NONBLOCK);
        assert_true(watch >= 0 && inotify_add_watch(watch, ".", IN_CREATE) > 0);
        struct db *db = open_db("a.db", DB_READ_WRITE);
        set_text(db, "command", "a");
        db_close(db);
        assert_ok(db_may_replace("a.db", NULL));
        assert_false(was_made(watch, "-journal"));
        close(watch);
}

TEST(what_a_killed_import_has_begun_is_a_remainder)
{
        static const struct {
                const char *state, *source;
                bool is;
        } cases[] = {{"recording", "sim", false},
                     {"recording", "perf.data", true},
                     {"complete", "perf.data", false}};
        db_close(create_db("a.db"));
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct db *db = open_db("a.db", DB_READ_WRITE);
                set_text(db, "state", cases[i].state);
                set_text(db, "source", cases[i].source);
                db_close(db);
                assert_int_equal(db_is_import_remainder("a.db"), cases[i].is);
        }
        write_text("empty.db", "");
        assert_false(db_is_import_remainder("empty.db"));
        write_text("mine", "text");
        assert_false(db_is_import_remainder("mine"));
        assert_false(db_is_import_remainder("absent.db"));
}

static struct {
        unsigned statements, trusting;
} asked;

/* Called before each statement; switches off waiting for locks. */
static int see_statement(void *connection, int action, const char *a, const char *b,
                         const char *c, const char *d)
{
        int defensive = 0, trusted = 1;
        sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
        sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &trusted);
        sqlite3_busy_timeout(connection, 0);
        asked.statements++;
        asked.trusting += !defensive || trusted;
        return SQLITE_OK;
}

static int see_connection(sqlite3 *connection)
{
        return sqlite3_set_authorizer(connection, see_statement, connection);
}

/* No statement runs with a trusted schema. A locked database gets one statement. */
TEST(locked_database_is_asked_once)
{
        db_close(create_db("a.db"));
        sqlite3 *writer = plain_open("a.db");
        assert_int_equal(sqlite3_exec(writer, "BEGIN EXCLUSIVE", NULL, NULL, NULL),
                         SQLITE_OK);
        sqlite3_auto_extension((void (*)(void))see_connection);
        assert_refused("a.db", DB_READ_ONLY, -EBUSY, "another process");
        assert_int_equal(asked.statements, 1);
        sqlite3_close(writer);
        struct db *db = open_db("a.db", DB_READ_ONLY);
        sqlite3_reset_auto_extension();
        assert_int_equal(asked.trusting, 0);
        db_close(db);
}

static int connections;

static int count_connection(sqlite3 *connection)
{
        connections++;
        return SQLITE_OK;
}

/* Connections needed to open PATH: a second one holds the reference schema. */
static int connections_to_open(const char *path)
{
        struct db *db;
        connections = 0;
        sqlite3_auto_extension((void (*)(void))count_connection);
        int code = db_open(path, DB_READ_WRITE, &db, NULL);
        sqlite3_reset_auto_extension();
        assert_int_equal(code, 0);
        db_close(db);
        return connections;
}

/* No reference schema is built if the schema's text is the same, word for word. */
TEST(whole_database_is_opened_without_comparing_shapes)
{
        db_close(create_db("a.db"));
        assert_int_equal(connections_to_open("a.db"), 1);
        /* The shortened view is valid, and the beginning of schema.sql's view. */
        plain_exec("a.db", "PRAGMA writable_schema = ON;"
                           "UPDATE sqlite_schema SET sql = replace(sql,"
                           " ' AND i.ip = s.ip', '') WHERE name = 'sample_location';");
        expect_count("sample_location", 0);
        assert_int_equal(connections_to_open("a.db"), 2);
}
