/* SPDX-License-Identifier: MIT */
/* Completes a recording that lacks names or findings because it was cut off. */
#include "completed.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "command.h"
#include "function_pattern.h"
#include "memlag_views_sql.h"
#include "statement.h"

enum { ROOM_TIMES = 8 };

struct missing {
        int64_t names;
        int64_t findings;
};

static int find_missing(struct db *db, struct missing *missing, struct diag *diag)
{
        int code = statement_number(db,
                                    "SELECT EXISTS (SELECT 1 FROM sample) AND"
                                    " NOT EXISTS (SELECT 1 FROM location)",
                                    &missing->names, diag);
        if (!code)
                code = statement_number(
                    db,
                    "SELECT NOT EXISTS (SELECT 1 FROM threshold) OR NOT EXISTS"
                    " (SELECT 1 FROM sqlite_schema WHERE name = 'line_view') OR"
                    /* A database of this version from an early memlag: analyze adds the
                     * missing tables. */
                    " NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = "
                    "'instruction')"
                    " OR"
                    " NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = "
                    "'whatif_run')"
                    " OR"
                    " NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = "
                    "'sharing_pair_view')"
                    " OR"
                    " NOT EXISTS (SELECT 1 FROM pragma_table_info('type_view')"
                    "             WHERE name = 'undecided_samples')",
                    &missing->findings, diag);
        /* Other views may come from an earlier memlag, or from an attacker who wants them
         * to run forever. */
        bool ours = true;
        if (!code && !missing->findings)
                code = db_views_are_ours(db, memlag_views_sql, &ours, diag);
        missing->findings |= !ours;
        return code;
}

static int run_stage(const char *name, const char *file)
{
        char *argv[] = {(char *)name, (char *)file, NULL};
        return command_run(name, 2, argv);
}

/* Names and findings may need several times the space of the samples. */
static bool has_little_room(const char *file)
{
        struct statvfs room;
        struct stat status;
        return statvfs(file, &room) == 0 && stat(file, &status) == 0 &&
               (uint64_t)room.f_bavail * room.f_frsize / ROOM_TIMES <=
                   (uint64_t)status.st_size;
}

/* Runs the stages that are MISSING on FILE; returns an exit status. */
static int complete(const char *file, const char *command, const struct missing *missing)
{
        diag_printf(
            command,
            "%s has not been analysed yet, or by an earlier memlag; doing that first",
            file);
        if (access(file, W_OK) != 0) {
                diag_printf(command,
                            "cannot write %s: copy it, and run 'memlag symbolize' and "
                            "'memlag analyze' on the copy",
                            file);
                return EXIT_FAILED;
        }
        int status = missing->names ? run_stage("symbolize", file) : EXIT_OK;
        if (status == EXIT_OK)
                status = run_stage("analyze", file);
        if (status != EXIT_OK && has_little_room(file))
                diag_printf(command,
                            "little room is left beside %s: copy it, and %s-wal if that "
                            "is there, to a place with space and go on there",
                            file, file);
        return status;
}

/* Opens FILE and finds its gaps; returns 0 or an error. A file of an older version cannot
 * be read: analyze converts it. */
static int open_and_look(const char *file, struct db **db, struct missing *missing,
                         struct diag *diag)
{
        *missing = (struct missing){false, false};
        int code = db_open(file, DB_READ_ONLY, db, diag);
        if (!code)
                return find_missing(*db, missing, diag);
        missing->findings = code == -ESTALE;
        return missing->findings ? 0 : code;
}

struct db *completed_open(const char *file, const char *command)
{
        enum { TIMES = 2 }; /* a converted file may show further gaps */
        struct diag diag;
        struct db *db;
        struct missing missing;
        int code = open_and_look(file, &db, &missing, &diag);
        for (int i = 0; i < TIMES && !code && (missing.names || missing.findings); i++) {
                db_close(db);
                if (complete(file, command, &missing) != EXIT_OK)
                        return NULL;
                code = open_and_look(file, &db, &missing, &diag);
        }
        if (!code && function_pattern_register(db_sqlite(db)) != SQLITE_OK)
                code = diag_no_memory(&diag);
        if (!code)
                return db;
        db_close(db);
        diag_print(command, &diag);
        return NULL;
}
