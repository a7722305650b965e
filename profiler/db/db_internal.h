/* SPDX-License-Identifier: MIT */
/* Private declarations that the database files share. */
#ifndef MEMLAG_DB_INTERNAL_H
#define MEMLAG_DB_INTERNAL_H

#include "db.h"

struct db {
        struct sqlite3 *sqlite;
        char *path; /* as the caller named it, for messages */
        enum db_access access;
        int lock; /* the file, locked against replacement; -1: not ours */
};

/* The file's first bytes, which are written atomically, record whether the database has
 * a log. They need no journal on the disk. SQLite would wait twice for a journal, and a
 * killed process would leave it behind. */
#define DB_WITHOUT_JOURNAL "PRAGMA journal_mode = MEMORY"

/* Converts SQLite's result RC to a negative errno value. */
int db_errno(int rc);

/* Returns the remedy for a process limit that the errno value CODE indicates, "" for
 * other values. */
const char *db_limit_remedy(int code);

/* A database without a connection yet, to be freed by db_free; NULL: no memory. */
struct db *db_new(const char *path, enum db_access access);

/* Closes DB's connection (NULL is allowed) without further writes, and frees it. */
void db_free(struct db *db);

/* Returns the file name for SQLite, freed by sqlite3_free. SQLite would not treat some
 * relative names (":memory:", "file:...") as files. NULL: no memory. */
char *db_file_name(const char *path);

/* Opens NAME for DB and frees it; a connection that DB had before is closed. Returns
 * SQLite's result. */
int db_connect(struct db *db, char *name, int flags);

/* Connects DB to an existing memlag database of any version. */
int db_connect_existing(struct db *db, struct diag *diag);

/* Message and remedy for a damaged file. */
#define DB_DAMAGED_TEXT                                                                  \
        "it is damaged (truncated or overwritten); record again, or save what is "       \
        "readable with sqlite3's .recover"

/* Checks all of DB except the samples: -EBADMSG when it is damaged, lacks a table of
 * recorded data, or has triggers. */
int db_check(struct db *db, struct diag *diag);

/* Rejects definitions with expressions, which may run for any time when SQLite accesses
 * rows. -EPERM: the file defines such columns, indices or tables; memlag makes none.
 * From here on, foreign row constraints have no effect. */
int db_check_definitions(struct db *db, struct diag *diag);

/* Switches the connection of DB to WAL mode: its process may then be killed at any
 * time. */
int db_prepare_for_writing(struct db *db, struct diag *diag);

/* Passes DB to the caller, or frees it if CODE is an error of opening. */
int db_hand_over(struct db *db, int code, struct db **result);

/* This memlag's schema version; schema.sql contains it too, and a new database that
 * disagrees does not open. */
enum { DB_SCHEMA_VERSION = 9 };

/* Reads the version of DB's schema and refuses an unknown version. */
int db_read_version(struct db *db, int64_t *version, struct diag *diag);

/* Migrates DB to this memlag's version if it is older, or lacks tables or columns of
 * this version. Recorded and symbolized data stays; findings must be made again.
 * -EPROTO: its tables do not match their version; DB stays unchanged. */
int db_migrate(struct db *db, int64_t version, struct diag *diag);

#endif
