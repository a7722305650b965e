/* SPDX-License-Identifier: MIT */
/* The database holds the text of sampled instructions. Files provide neighbouring
 * instructions, other syntaxes, and text that an earlier symbolize did not store. The
 * database identifies a file by its path, and by its build-id, or by size and checksum
 * when mapped. */
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

static const char kept_sql[] =
    "INSERT INTO annotated_code SELECT location_id, text FROM instruction"
    " WHERE location_id IN (SELECT location_id FROM annotated_row)";

/* Modules with missing text; with ?1, all modules of the rows. Columns: id, path, path
 * and role of the file (NULL: symbolize did not search), build_id, size_bytes, checksum,
 * whether text is missing. */
static const char modules_sql[] =
    "SELECT m.module_id, m.path, n.path, n.role, m.build_id, f.size_bytes, f.checksum,"
    " w.lacks "
    "FROM (SELECT module_id, max(location_id NOT IN (SELECT location_id"
    "       FROM annotated_code)) AS lacks FROM code_location WHERE location_id IN"
    "       (SELECT location_id FROM annotated_row) GROUP BY module_id) AS w"
    " JOIN module AS m USING (module_id)"
    " LEFT JOIN module_file AS f USING (module_id)"
    " LEFT JOIN name_source AS n ON n.module_id = m.module_id"
    "  AND n.role IN ('file', 'missing', 'changed', 'foreign') "
    "WHERE ?1 OR w.lacks GROUP BY m.module_id ORDER BY m.path";

enum {
        COLUMN_ID,
        COLUMN_PATH,
        COLUMN_FILE,
        COLUMN_ROLE,
        COLUMN_BUILD_ID,
        COLUMN_SIZE,
        COLUMN_CHECKSUM,
        COLUMN_LACKS
};

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
                    checksum == sqlite3_column_int64(module, COLUMN_CHECKSUM);
        if (fd >= 0)
                close(fd);
        return same;
}

/* Without recorded identification, symbolize accepted any file, and names come from that
 * file. */
static bool is_recorded(sqlite3_stmt *module, const char *path)
{
        if (sqlite3_column_bytes(module, COLUMN_BUILD_ID) > 0)
                return has_build_id(module, path);
        return sqlite3_column_type(module, COLUMN_SIZE) == SQLITE_NULL ||
               has_checksum(module, path);
}

/* Opens a module's file; on failure returns NULL, and *WHY gets the reason. */
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

/* The length of the instruction at ADDRESS, also near the end of a segment. 0 and ""
 * without an instruction. */
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
        sqlite3_stmt *insert_neighbour; /* NULL: neighbours not wanted */
        struct diag *diag;
};

/* A longer disassembly costs more than two neighbours are worth. */
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

/* The start address for disassembling ADDRESS's function: far enough before ADDRESS, or
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

/* Linear disassembly of a module in the order of addresses. */
struct walk {
        uint64_t at;                 /* address of the next instruction */
        uint64_t before[NEIGHBOURS]; /* preceding instructions, the latest last */
        int passed;                  /* number of elements in before */
};

/* Advances WALK to ADDRESS; false: no instruction begins there in this disassembly. */
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

/* The names of modules without available machine code. */
struct unread {
        FILE *lacking; /* sampled instructions are missing */
        FILE *beside;  /* only neighbouring instructions are missing */
};

static int read_modules(struct reading *reading, const struct unread *unread)
{
        sqlite3_stmt *modules;
        int result = statement_prepare(reading->db, modules_sql, &modules, reading->diag);
        if (!result)
                sqlite3_bind_int(modules, 1, reading->insert_neighbour != NULL);
        while (!result &&
               (result = statement_next(reading->db, modules, reading->diag)) > 0) {
                const char *why;
                struct module_code *code = open_module(modules, &why);
                if (!code)
                        note(sqlite3_column_int(modules, COLUMN_LACKS) ? unread->lacking
                                                                       : unread->beside,
                             modules, why);
                result = code ? read_locations(reading, code,
                                               sqlite3_column_int64(modules, COLUMN_ID))
                              : 0;
                module_code_close(code);
        }
        sqlite3_finalize(modules);
        return result;
}

static int read_all(struct reading *reading, bool neighbours, const struct unread *unread)
{
        int code = 0;
        if (reading->style == DISASSEMBLY_ATT)
                code = statement_run_all(reading->db, kept_sql, reading->diag);
        if (!code)
                code = statement_prepare(
                    reading->db,
                    "SELECT location_id, address_offset FROM code_location WHERE"
                    " module_id = ?1"
                    " AND location_id IN (SELECT location_id FROM annotated_row)"
                    " ORDER BY address_offset",
                    &reading->locations, reading->diag);
        if (!code)
                code = statement_prepare(
                    reading->db, "INSERT OR IGNORE INTO annotated_code VALUES (?1, ?2)",
                    &reading->insert, reading->diag);
        if (!code && neighbours)
                code = statement_prepare(
                    reading->db, "INSERT INTO annotated_neighbour VALUES (?1, ?2, ?3)",
                    &reading->insert_neighbour, reading->diag);
        if (!code)
                code = read_modules(reading, unread);
        sqlite3_finalize(reading->locations);
        sqlite3_finalize(reading->insert);
        sqlite3_finalize(reading->insert_neighbour);
        return code;
}

#define REMEDY                                                                           \
        ". Where copies of the recorded files are, 'memlag symbolize --symfs', "         \
        "--build-id-dir or (of the kernel) --vmlinux tells.\n"

int instructions_read(struct db *db, enum disassembly_style style, bool neighbours,
                      FILE *notes, struct diag *diag)
{
        struct reading reading = {.db = db, .style = style, .diag = diag};
        char *lacking = NULL, *beside = NULL;
        size_t size;
        struct unread unread = {open_memstream(&lacking, &size),
                                open_memstream(&beside, &size)};
        int code = unread.lacking && unread.beside
                       ? read_all(&reading, neighbours, &unread)
                       : diag_no_memory(diag);
        if (unread.lacking && fclose(unread.lacking) == 0 && *lacking)
                fprintf(notes, "No machine code of %s" REMEDY, lacking);
        if (unread.beside && fclose(unread.beside) == 0 && *beside)
                fprintf(notes, "No instructions beside those with samples: no machine code of %s" REMEDY,
                        beside);
        free(lacking);
        free(beside);
        return code;
}
