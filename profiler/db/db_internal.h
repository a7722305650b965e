/* SPDX-License-Identifier: MIT */
/* What db.c and writer.c share and nobody else sees. */
#ifndef MEMLAG_DB_INTERNAL_H
#define MEMLAG_DB_INTERNAL_H

#include "db.h"

struct db {
        struct sqlite3 *sqlite;
        char *path; /* as the caller named it, for messages */
        enum db_access access;
        int lock; /* the file, locked against being replaced; -1: it is not ours */
};

/* The negative errno value that stands for SQLite's result RC. */
int db_errno(int rc);

#endif
