/* SPDX-License-Identifier: MIT */
/* Creates, replaces, moves and removes sample databases as files. A creator locks the
 * file: nobody else can then record under its name. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db_internal.h"
#include "memlag_schema_sql.h"

static int cannot_create(const char *path, int code, struct diag *diag)
{
        const char *remedy = db_limit_remedy(-code);
        return diag_set(diag, code, "cannot create %s: %s%s", path, strerror(-code),
                        *remedy ? remedy : "; choose another place with -o");
}

const char *const db_file_suffixes[DB_FILES] = {"-wal", "-shm", "-journal", ""};

/* Removes the first COUNT of the files of the database at PATH. */
static int remove_files(const char *path, size_t count, struct diag *diag)
{
        for (size_t i = 0; i < count; i++) {
                char *name = sqlite3_mprintf("%s%s", path, db_file_suffixes[i]);
                int code = !name ? -ENOMEM
                           : unlink(name) && errno != ENOENT && errno != ENAMETOOLONG
                               ? -errno
                               : 0;
                sqlite3_free(name);
                if (code)
                        return diag_set(diag, code, "cannot remove %s: %s", path,
                                        strerror(-code));
        }
        return 0;
}

int db_remove(const char *path, struct diag *diag)
{
        return remove_files(path, DB_FILES, diag);
}

static int used_by_another(const char *path, struct diag *diag)
{
        return diag_set(diag, -EBUSY, "cannot replace %s: another process is using it",
                        path);
}

int db_may_replace(const char *path, struct diag *diag)
{
        struct stat status;
        if (lstat(path, &status) != 0 || (S_ISREG(status.st_mode) && status.st_size == 0))
                return 0;
        struct db *db = db_new(path, DB_READ_WRITE);
        if (!db)
                return diag_set(diag, -ENOMEM, "cannot replace %s: no memory", path);
        int code = db_connect_existing(db, diag);
        if (code == -EINVAL || code == -EBADMSG)
                code = diag_set(diag, -EINVAL,
                                "%s is not a memlag database that can be read, so it is "
                                "not replaced; choose another name with -o",
                                path);
        if (!code) {
                /* Only a lone connection can leave WAL mode. */
                sqlite3_busy_timeout(db->sqlite, 0);
                if (sqlite3_exec(db->sqlite, DB_WITHOUT_JOURNAL, NULL, NULL, NULL) ==
                    SQLITE_BUSY)
                        code = used_by_another(path, diag);
        }
        db_free(db);
        return code;
}

/* Returns true if nobody else locks the file, or if the file system has no such
 * locks. */
static bool take_lock(int fd)
{
        return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool db_is_import_remainder(const char *path)
{
        struct db *db;
        if (db_open(path, DB_READ_ONLY, &db, NULL) < 0)
                return false;
        char *state = db_run_text(db, "state");
        char *source = db_run_text(db, "source");
        bool begun = state && strcmp(state, "recording") == 0;
        bool imported = source && strcmp(source, "perf.data") == 0;
        free(state);
        free(source);
        db_close(db);
        return begun && imported;
}

/* Removes the first COUNT database files of PATH, unless they are in use. */
static int remove_existing(const char *path, size_t count, struct diag *diag)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        int code = fd >= 0 && !take_lock(fd) ? used_by_another(path, diag)
                                             : db_may_replace(path, diag);
        if (!code)
                code = remove_files(path, count, diag);
        if (fd >= 0)
                close(fd);
        return code;
}

/* A file that replaces another gets its permissions. The owner can always read and write
 * the new file. */
static mode_t mode_after(const struct stat *before)
{
        return (before->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) | S_IRUSR | S_IWUSR;
}

int db_move(const char *from, const char *to, struct diag *diag)
{
        struct stat before;
        bool replaces = lstat(to, &before) == 0 && S_ISREG(before.st_mode);
        int code = remove_existing(to, DB_FILES - 1, diag);
        if (!code && replaces)
                (void)!chmod(from, mode_after(&before));
        if (!code && rename(from, to) != 0)
                code = cannot_create(to, -errno, diag);
        return code;
}

/* Returns true if FD is the file that PATH names now. */
static bool is_file(int fd, const char *path)
{
        struct stat named, opened;
        return stat(path, &named) == 0 && fstat(fd, &opened) == 0 &&
               named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

bool db_is_in_place(const struct db *db)
{
        return db->lock < 0 || is_file(db->lock, db->path);
}

/* Replaces an existing PATH only if it is a memlag database. */
static int is_taken(const char *path, struct diag *diag)
{
        struct stat status = {.st_mode = S_IFREG};
        struct db *db = NULL;
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
                return diag_set(diag, -EEXIST,
                                "%s is a directory; name a file in it with -o", path);
        bool other =
            !S_ISREG(status.st_mode) ||
            (status.st_size > 0 && db_open(path, DB_READ_ONLY, &db, NULL) == -EINVAL);
        db_close(db);
        return diag_set(diag, -EEXIST,
                        other ? "%s exists and is not a memlag database; choose another "
                                "name with -o"
                              : "%s exists; --force replaces it, -o names another file",
                        path);
}

/* Creates an empty file and locks it: two recordings never take the same name. A process
 * with permission to replace may come between, and then has the file. */
static int claim_file(const char *path, int *lock, struct diag *diag)
{
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST)
                return is_taken(path, diag);
        if (fd < 0)
                return cannot_create(path, -errno, diag);
        if (!take_lock(fd) || !is_file(fd, path)) {
                close(fd);
                return used_by_another(path, diag);
        }
        *lock = fd;
        return 0;
}

/* The schema is written before WAL mode: the file itself, not its log, identifies the
 * database, as one that is not complete, from the start. */
static int create_schema(struct db *db, struct diag *diag)
{
        if (db_connect(db, db_file_name(db->path), SQLITE_OPEN_READWRITE) ||
            sqlite3_exec(db->sqlite, "BEGIN", NULL, NULL, NULL) ||
            sqlite3_exec(db->sqlite, memlag_schema_sql, NULL, NULL, NULL) ||
            sqlite3_exec(db->sqlite, "INSERT INTO run VALUES ('state', 'recording')",
                         NULL, NULL, NULL) ||
            sqlite3_exec(db->sqlite, "COMMIT", NULL, NULL, NULL))
                return db_error(db, "create", diag);
        return db_prepare_for_writing(db, diag);
}

/* SQLite's side files beside the database have longer names. */
static int check_name(const char *path, struct diag *diag)
{
        const char *slash = strrchr(path, '/');
        const size_t longest = NAME_MAX - strlen("-journal");
        if (strlen(slash ? slash + 1 : path) <= longest)
                return 0;
        return diag_set(diag, -ENAMETOOLONG,
                        "cannot create %s: its name is longer than %zu bytes; choose "
                        "another name with -o",
                        path, longest);
}

int db_create_unnamed(struct db **result, struct diag *diag)
{
        *result = NULL;
        struct db *db = db_new("a database without a name", DB_READ_WRITE);
        int code = !db ? diag_no_memory(diag)
                   : db_connect(db, sqlite3_mprintf(""),
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) ||
                           sqlite3_exec(db->sqlite, memlag_schema_sql, NULL, NULL, NULL)
                       ? db_error(db, "create", diag)
                       : 0;
        return db_hand_over(db, code, result);
}

int db_create(const char *path, bool replace, struct db **result, struct diag *diag)
{
        *result = NULL;
        struct stat status = {0};
        int code = check_name(path, diag);
        bool replaces = !code && replace && lstat(path, &status) == 0;
        if (replaces)
                code = remove_existing(path, DB_FILES, diag);
        int lock = -1;
        if (!code)
                code = claim_file(path, &lock, diag);
        if (!code && replaces && S_ISREG(status.st_mode))
                (void)!fchmod(lock, mode_after(&status));
        if (code == -EEXIST && replace) /* made since it was removed */
                code = used_by_another(path, diag);
        if (code)
                return code;
        struct db *db = db_new(path, DB_READ_WRITE);
        if (db)
                db->lock = lock;
        else
                close(lock);
        code = db ? create_schema(db, diag) : cannot_create(path, -ENOMEM, diag);
        if (code)
                db_remove(path, NULL);
        return db_hand_over(db, code, result);
}
