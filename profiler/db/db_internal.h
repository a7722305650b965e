/* SPDX-License-Identifier: MIT */
/* What the files about the database share and nobody else sees. */
#ifndef MEMLAG_DB_INTERNAL_H
#define MEMLAG_DB_INTERNAL_H

#include "db.h"

struct db {
        struct sqlite3 *sqlite;
        char *path; /* as the caller named it, for messages */
        enum db_access access;
        int lock; /* the file, locked against being replaced; -1: it is not ours */
};

/* Whether the database has a log is noted in the file's first bytes, which are written as
 * a whole or not at all: they need no journal on the disk, for which SQLite would wait
 * twice, and which would be left by whoever is killed then. */
#define DB_WITHOUT_JOURNAL "PRAGMA journal_mode = MEMORY"

/* The negative errno value that stands for SQLite's result RC. */
int db_errno(int rc);

/* What to do about the limit of the process that the errno value CODE tells of, "" when
 * it is none. */
const char *db_limit_remedy(int code);

/* A database without a connection yet, to be freed by db_free; NULL: no memory. */
struct db *db_new(const char *path, enum db_access access);

/* Ends the connection of DB (NULL is allowed) as it is, and frees it. */
void db_free(struct db *db);

/* The name to give to SQLite, freed by sqlite3_free: it would take some relative names
 * for something other than a file (":memory:", "file:..."). NULL: no memory. */
char *db_file_name(const char *path);

/* Opens NAME for DB and frees it; a connection that DB had before is closed. Returns
 * SQLite's result. */
int db_connect(struct db *db, char *name, int flags);

/* Connects DB to an existing memlag database of any version. */
int db_connect_existing(struct db *db, struct diag *diag);

/* What to say of a file that is not whole, and what to do about it. */
#define DB_DAMAGED_TEXT                                                                  \
        "it is damaged (truncated or overwritten); record again, or save what is "       \
        "readable with sqlite3's .recover"

/* Reads all of DB but the samples: -EBADMSG when it is damaged, lacks a table of what was
 * recorded, or has triggers. */
int db_check(struct db *db, struct diag *diag);

/* What SQLite works out when it reads or writes rows may take any time. -EPERM: the file
 * defines such columns, indices or tables; memlag makes none. Conditions on rows that are
 * not this memlag's have no effect from here on. */
int db_check_definitions(struct db *db, struct diag *diag);

/* Has the connection of DB write a log, so that its process may be killed at any time. */
int db_prepare_for_writing(struct db *db, struct diag *diag);

/* Hands DB over to the caller, or frees it when CODE says that opening failed. */
int db_hand_over(struct db *db, int code, struct db **result);

/* That of this memlag; it stands in schema.sql too, and a new database that disagrees
 * does not open. */
enum { DB_SCHEMA_VERSION = 9 };

/* Reads the version of DB's schema and refuses one that is not known. */
int db_read_version(struct db *db, int64_t *version, struct diag *diag);

/* Brings DB up to this memlag's version if it is of an older one, or of a memlag that did
 * not yet have all of this version's tables and columns: what was recorded and
 * named stays, findings are to be made again. -EPROTO: its tables are of another shape
 * than that version's; then it stays as it is. */
int db_migrate(struct db *db, int64_t version, struct diag *diag);

#endif
