/* SPDX-License-Identifier: MIT */
/* Shared by tests of the sample database: queries of a database file through plain
 * SQLite, without the code under test. */
#ifndef DB_TEST_H
#define DB_TEST_H

#include <sqlite3.h>

#include "db.h"
#include "directory.h"

static inline sqlite3 *plain_open(const char *path)
{
        sqlite3 *sqlite;
        assert_int_equal(sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READWRITE, NULL),
                         SQLITE_OK);
        return sqlite;
}

static inline void plain_exec(const char *path, const char *sql)
{
        sqlite3 *sqlite = plain_open(path);
        assert_int_equal(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(sqlite);
}

/* The first column of the first row of SQL, as text; "NULL" for NULL. */
static inline const char *plain_text(const char *path, const char *sql)
{
        static char text[256];
        sqlite3 *sqlite = plain_open(path);
        sqlite3_stmt *statement;
        assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        const unsigned char *value = sqlite3_column_text(statement, 0);
        snprintf(text, sizeof(text), "%s", value ? (const char *)value : "NULL");
        sqlite3_finalize(statement);
        sqlite3_close(sqlite);
        return text;
}

static inline long long plain_int(const char *path, const char *sql)
{
        return atoll(plain_text(path, sql));
}

/* Compare the result of a query of a.db. */
#define expect(sql, text)       assert_string_equal(plain_text("a.db", sql), text)
#define expect_int(sql, number) assert_int_equal(plain_int("a.db", sql), number)

/* Compares the count of ROWS of a.db: a table, joins and conditions of SQL. */
#define expect_count(rows, number) expect_int("SELECT count(*) FROM " rows, number)

/* Compares the count of KIND in a.db's ledger. */
static inline void expect_ledger(const char *kind, long long value)
{
        expect_int(text_of("SELECT value FROM ledger WHERE kind = '%s'", kind), value);
}

static inline struct db *create_db(const char *path)
{
        struct diag diag;
        struct db *db;
        if (db_create(path, false, &db, &diag))
                fail_msg("%s", diag.text);
        return db;
}

static inline struct writer *open_writer(struct db *db)
{
        struct diag diag;
        struct writer *writer;
        if (writer_open(db, &writer, &diag))
                fail_msg("%s", diag.text);
        return writer;
}

#endif
