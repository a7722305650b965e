/* SPDX-License-Identifier: MIT */
/* What tells of a file is in the database: where symbolize found it, and its build-id, or
 * size and checksum, when it was mapped. */
#include "instructions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"
#include "file_checksum.h"
#include "module_code.h"
#include "statement.h"

/* Columns of a module: its id, its path, the path and role of its file (NULL: symbolize
 * has not looked for it), build_id, size_bytes, checksum. */
static const char modules_sql[] =
    "SELECT m.module_id, m.path, n.path, n.role, m.build_id, f.size_bytes, f.checksum "
    "FROM module AS m LEFT JOIN module_file AS f USING (module_id)"
    " LEFT JOIN name_source AS n ON n.module_id = m.module_id"
    "  AND n.role IN ('file', 'missing', 'changed', 'foreign') "
    "WHERE m.module_id IN (SELECT module_id FROM annotated_row"
    "                      JOIN code_location USING (location_id)) "
    "GROUP BY m.module_id ORDER BY m.path";

enum { COLUMN_ID, COLUMN_PATH, COLUMN_FILE, COLUMN_ROLE, COLUMN_BUILD_ID, COLUMN_SIZE };

static bool has_build_id(sqlite3_stmt *module, const char *path)
{
        uint8_t id[BUILD_ID_MAX_BYTES];
        size_t length = (size_t)sqlite3_column_bytes(module, COLUMN_BUILD_ID);
        return build_id_read(path, id) == length &&
               memcmp(id, sqlite3_column_blob(module, COLUMN_BUILD_ID), length) == 0;
}

static bool has_checksum(sqlite3_stmt *module, const char *path)
{
        struct stat status;
        uint32_t checksum;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        bool same = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_size == sqlite3_column_int64(module, COLUMN_SIZE) &&
                    file_checksum(fd, &checksum) &&
                    checksum == sqlite3_column_int64(module, COLUMN_SIZE + 1);
        if (fd >= 0)
                close(fd);
        return same;
}

/* Where nothing was recorded that tells, symbolize took any file, and so names are its.
 */
static bool is_recorded(sqlite3_stmt *module, const char *path)
{
        if (sqlite3_column_bytes(module, COLUMN_BUILD_ID) > 0)
                return has_build_id(module, path);
        return sqlite3_column_type(module, COLUMN_SIZE) == SQLITE_NULL ||
               has_checksum(module, path);
}

/* Opens a module's file; NULL: *WHY says what is the matter with it. */
static struct module_code *open_module(sqlite3_stmt *module, const char **why)
{
        const char *role = (const char *)sqlite3_column_text(module, COLUMN_ROLE);
        const char *path = statement_text(module, COLUMN_FILE);
        *why = "not found";
        if (role && strcmp(role, "changed") == 0)
                *why = "another file is there";
        if (!role || strcmp(role, "file") != 0 || access(path, R_OK) != 0)
                return NULL;
        *why = "another file is there";
        if (!is_recorded(module, path))
                return NULL;
        *why = "it cannot be read";
        return module_code_open(path);
}

/* The length of the instruction at ADDRESS, near the end of a segment too; 0, and "":
 * there is none. */
static size_t disassemble(const struct module_code *code, uint64_t address,
                          enum disassembly_style style, char text[DISASSEMBLY_TEXT_BYTES])
{
        uint8_t bytes[DISASSEMBLY_CODE_BYTES];
        size_t length = sizeof(bytes);
        while (length > 0 && !module_code_read(code, address, bytes, length))
                length--;
        length = length ? disassembly_text(bytes, length, address, style, text) : 0;
        if (!length)
                *text = '\0';
        return length;
}

struct reading {
        struct db *db;
        enum disassembly_style style;
        sqlite3_stmt *locations; /* ?1: the module */
        sqlite3_stmt *insert;
        sqlite3_stmt *insert_neighbour; /* NULL: they are not wanted */
        struct diag *diag;
};

/* A longer walk costs more than its two instructions are worth. */
enum { NEIGHBOURS = 2, MOST_WALKED_BYTES = 64 << 10 };

static int add_neighbour(struct reading *reading, const struct module_code *code,
                         int64_t location_id, uint64_t address)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        disassemble(code, address, reading->style, text);
        sqlite3_bind_int64(reading->insert_neighbour, 1, location_id);
        sqlite3_bind_int64(reading->insert_neighbour, 2, (int64_t)address);
        sqlite3_bind_text(reading->insert_neighbour, 3, text, -1, SQLITE_STATIC);
        return statement_run(reading->db, reading->insert_neighbour, reading->diag);
}

/* Where the instructions of ADDRESS's function are walked from: far enough before it, or
 * ADDRESS itself. */
static uint64_t walk_start(struct module_code *code, uint64_t address)
{
        uint64_t start = address;
        for (int i = 0; i < NEIGHBOURS && start > 0; i++)
                if (module_code_is_entry(code, start) ||
                    !module_code_boundary(code, start - 1, &start))
                        break;
        return start;
}

/* A walk over the instructions of a module in the order of addresses. */
struct walk {
        uint64_t at;                 /* the next one */
        uint64_t before[NEIGHBOURS]; /* those that were passed, the latest last */
        int passed;                  /* how many of them there are */
};

/* Moves WALK to ADDRESS; false: no instruction begins there as it counts them. */
static bool walk_to(struct walk *walk, struct module_code *code, uint64_t address)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        uint64_t start = walk_start(code, address);
        if (walk->at < start || walk->at > address)
                *walk = (struct walk){.at = start};
        if (address - walk->at > MOST_WALKED_BYTES)
                return false;
        while (walk->at < address) {
                size_t length = disassemble(code, walk->at, DISASSEMBLY_ATT, text);
                if (!length)
                        break;
                memmove(walk->before, walk->before + 1,
                        (NEIGHBOURS - 1) * sizeof(walk->before[0]));
                walk->before[NEIGHBOURS - 1] = walk->at;
                walk->passed += walk->passed < NEIGHBOURS;
                walk->at += length;
        }
        return walk->at == address;
}

static int add_neighbours(struct reading *reading, struct module_code *code,
                          int64_t location_id, uint64_t address, size_t length,
                          struct walk *walk)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        int result = 0;
        if (walk_to(walk, code, address))
                for (int i = NEIGHBOURS - walk->passed; !result && i < NEIGHBOURS; i++)
                        result =
                            add_neighbour(reading, code, location_id, walk->before[i]);
        for (int i = 0; !result && length > 0 && i < NEIGHBOURS; i++) {
                address += length;
                length = module_code_is_entry(code, address)
                             ? 0
                             : disassemble(code, address, reading->style, text);
                if (length)
                        result = add_neighbour(reading, code, location_id, address);
        }
        return result;
}

static int read_locations(struct reading *reading, struct module_code *code,
                          int64_t module_id)
{
        struct walk walk = {0};
        char text[DISASSEMBLY_TEXT_BYTES];
        int result = 0;
        sqlite3_bind_int64(reading->locations, 1, module_id);
        while (!result && (result = statement_next(reading->db, reading->locations,
                                                   reading->diag)) > 0) {
                int64_t id = sqlite3_column_int64(reading->locations, 0);
                uint64_t address = (uint64_t)sqlite3_column_int64(reading->locations, 1);
                size_t length = disassemble(code, address, reading->style, text);
                sqlite3_bind_int64(reading->insert, 1, id);
                sqlite3_bind_text(reading->insert, 2, *text ? text : "(bad)", -1,
                                  SQLITE_STATIC);
                result = statement_run(reading->db, reading->insert, reading->diag);
                if (!result && reading->insert_neighbour)
                        result =
                            add_neighbours(reading, code, id, address, length, &walk);
        }
        sqlite3_reset(reading->locations);
        return result;
}

static void note(FILE *unread, sqlite3_stmt *module, const char *why)
{
        char *path = statement_printable(module, COLUMN_PATH);
        if (path)
                fprintf(unread, "%s%s (%s)", ftell(unread) > 0 ? ", " : "", path, why);
        free(path);
}

/* UNREAD gets the names of those whose machine code is not at hand. */
static int read_modules(struct reading *reading, FILE *unread)
{
        sqlite3_stmt *modules;
        int result = statement_prepare(reading->db, modules_sql, &modules, reading->diag);
        while (!result &&
               (result = statement_next(reading->db, modules, reading->diag)) > 0) {
                const char *why;
                struct module_code *code = open_module(modules, &why);
                if (!code)
                        note(unread, modules, why);
                result = code ? read_locations(reading, code,
                                               sqlite3_column_int64(modules, COLUMN_ID))
                              : 0;
                module_code_close(code);
        }
        sqlite3_finalize(modules);
        return result;
}

int instructions_read(struct db *db, enum disassembly_style style, bool neighbours,
                      FILE *notes, struct diag *diag)
{
        struct reading reading = {.db = db, .style = style, .diag = diag};
        char *names = NULL;
        size_t size;
        FILE *unread = open_memstream(&names, &size);
        if (!unread)
                return diag_no_memory(diag);
        int code = statement_prepare(
            db,
            "SELECT location_id, address_offset FROM code_location WHERE module_id = ?1"
            " AND location_id IN (SELECT location_id FROM annotated_row)"
            " ORDER BY address_offset",
            &reading.locations, diag);
        if (!code)
                code = statement_prepare(db, "INSERT INTO annotated_code VALUES (?1, ?2)",
                                         &reading.insert, diag);
        if (!code && neighbours)
                code = statement_prepare(
                    db, "INSERT INTO annotated_neighbour VALUES (?1, ?2, ?3)",
                    &reading.insert_neighbour, diag);
        if (!code)
                code = read_modules(&reading, unread);
        if (fclose(unread) == 0 && *names)
                fprintf(notes,
                        "No machine code of %s. Where copies of the recorded files are, "
                        "'memlag symbolize --symfs', --build-id-dir or (of the kernel) "
                        "--vmlinux tells.\n",
                        names);
        free(names);
        sqlite3_finalize(reading.locations);
        sqlite3_finalize(reading.insert);
        sqlite3_finalize(reading.insert_neighbour);
        return code;
}
