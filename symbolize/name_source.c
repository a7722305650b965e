/* SPDX-License-Identifier: MIT */
/* A file is the same when its path, size and time of modification are; a module's file
 * has been compared by build-id or checksum before. */
#include "name_source.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bulk_insert.h"
#include "rule.h"

struct finding {
        struct name_sources *sources;
        const struct module_search *files;
        const struct debug_search *search;
        const struct symbolize_options *options;
};

static int put(struct finding *finding, int64_t module_id, const char *role,
               const char *path, const struct stat *status)
{
        return looked_for_put(&finding->sources->files, module_id, role, path ?: "",
                              status);
}

static int put_file(struct finding *finding, int64_t module_id, const char *role,
                    const struct elf_file *file)
{
        struct stat status = {0};

        fstat(file->fd, &status);
        return put(finding, module_id, role, file->path, &status);
}

/* Notes the name of the missing alternate file. A server may deliver it later. */
static int put_missing_alt(struct finding *finding, int64_t module_id,
                           const struct elf_file *file)
{
        char *wanted;
        int error =
            finding->options->debuginfod ? -ENOENT : debug_file_alt_wanted(file, &wanted);

        if (error)
                return error == -ENOMEM ? error : 0;
        error = put(finding, module_id, "dwz", wanted, NULL);
        free(wanted);
        return error;
}

/* Finds the alternate debug file of FILE, which dwz made. */
static int find_alt(struct finding *finding, int64_t module_id,
                    const struct elf_file *file)
{
        struct elf_file alt;
        int error = debug_file_find_alt(file, finding->search, &alt);

        if (error == -ENOENT)
                return put_missing_alt(finding, module_id, file);
        if (error)
                return error;
        error = put_file(finding, module_id, "dwz", &alt);
        elf_file_close(&alt);
        return error;
}

static int find_debug(struct finding *finding, int64_t module_id,
                      const struct elf_file *file)
{
        struct elf_file debug;
        int error = debug_file_find(file, finding->search, &debug);

        if (error)
                return error == -ENOMEM ? error : 0;
        error = put_file(finding, module_id, "debug", &debug);
        if (!error)
                error = find_alt(finding, module_id, &debug);
        elf_file_close(&debug);
        return error;
}

static int find_module(void *context, sqlite3_stmt *row)
{
        struct finding *finding = context;
        const struct module_identity identity = module_identity_of_row(row, 1);
        int64_t module_id = sqlite3_column_int64(row, 0);
        struct elf_file file;
        int error =
            identity.path ? module_file_open(&identity, finding->files, &file) : -ENOENT;

        if (error)
                return error == -ENOMEM ? error
                                        : put(finding, module_id,
                                              error == -ESTALE    ? "changed"
                                              : error == -ENOEXEC ? "foreign"
                                                                  : "missing",
                                              identity.path, NULL);
        error = put_file(finding, module_id, "file", &file);
        if (!error && debug_file_has_dwarf(&file))
                error = find_alt(finding, module_id, &file);
        else if (!error)
                error = find_debug(finding, module_id, &file);
        elf_file_close(&file);
        return error;
}

static void put_list(FILE *text, const char *name, const char *const *list)
{
        for (; list && *list; list++)
                fprintf(text, " %s=%s", name, *list);
}

/* A recording in progress only adds raw rows, so its last sample identifies them. */
static int take_last_sample(void *context, sqlite3_stmt *row)
{
        *(int64_t *)context = sqlite3_column_int64(row, 0);
        return 0;
}

/* Two builds of one version may give different names. Returns whether TEXT distinguishes
 * this build from others. */
static bool put_own_build(FILE *text)
{
        struct elf_file own;
        char hex[ELF_BUILD_ID_HEX];

        if (elf_file_open(&own, "/proc/self/exe") != 0)
                return false;
        bool known = own.build_id_bytes > 0;

        elf_build_id_hex(own.build_id, own.build_id_bytes, hex);
        fprintf(text, " build=%s", hex);
        elf_file_close(&own);
        return known;
}

/* Writes the version, the build and every option that affects names. */
static int put_options(struct finding *finding, int64_t last_sample_id)
{
        const struct symbolize_options *options = finding->options;
        char *line = NULL;
        size_t bytes;
        FILE *text = open_memstream(&line, &bytes);
        struct stat status;

        if (!text)
                return -ENOMEM;
        fprintf(text, MEMLAG_VERSION " samples=%lld", (long long)last_sample_id);
        finding->sources->build_unknown = !put_own_build(text);
        put_list(text, "debuginfo-path", options->debuginfo_paths);
        put_list(text, "build-id-dir", options->build_id_paths);
        put_list(text, "allocator", options->allocators);
        if (options->symfs)
                fprintf(text, " symfs=%s", options->symfs);
        if (options->vmlinux)
                fprintf(text, " vmlinux=%s", options->vmlinux);
        if (options->debuginfod)
                fputs(" debuginfod", text);
        if (*rules_off())
                fprintf(text, " rules-off=%s", rules_off());
        int error = fclose(text) ? -ENOMEM : 0;

        if (!error)
                error = put(finding, 0, "options", line, NULL);
        if (!error && options->kallsyms && stat(options->kallsyms, &status) == 0)
                error = put(finding, 0, "kallsyms", options->kallsyms, &status);
        free(line);
        return error;
}

int name_sources_find(struct name_sources *sources, struct db *db,
                      const struct symbolize_options *options,
                      const struct module_search *files,
                      const struct debug_search *search, struct diag *diag)
{
        struct finding finding = {sources, files, search, options};
        int64_t last_sample = 0;
        int error = select_rows(db, "SELECT max(sample_id) FROM sample", take_last_sample,
                                &last_sample, diag);

        if (!error)
                error = put_options(&finding, last_sample);
        if (!error)
                error = select_rows(db,
                                    "SELECT module_id, " MODULE_IDENTITY_COLUMNS
                                    " FROM module" MODULE_IDENTITY_JOIN "ORDER BY 1",
                                    find_module, &finding, diag);
        return error == -ENOMEM ? diag_no_memory(diag) : error;
}

static bool same_row(const struct looked_for_file *source, sqlite3_stmt *row)
{
        const char *role = (const char *)sqlite3_column_text(row, 1);
        const char *path = (const char *)sqlite3_column_text(row, 2);

        return sqlite3_column_int64(row, 0) == source->module_id && role && path &&
               strcmp(role, source->role) == 0 && strcmp(path, source->path) == 0 &&
               (uint64_t)sqlite3_column_int64(row, 3) == source->size_bytes &&
               sqlite3_column_int64(row, 4) == source->modified_ns;
}

/* Whether ROW names a file that was only looked for, and is unchanged. */
static bool looked_for_same(sqlite3_stmt *row)
{
        const char *path = (const char *)sqlite3_column_text(row, 2);

        return path && sqlite3_column_int64(row, 0) == 0 &&
               !looked_for_changed(path, (uint64_t)sqlite3_column_int64(row, 3),
                                   sqlite3_column_int64(row, 4));
}

struct comparison {
        const struct looked_for *files;
        size_t at;
};

static int differs(void *context, sqlite3_stmt *row)
{
        struct comparison *comparison = context;
        size_t at = comparison->at++;

        return !(at < comparison->files->count
                     ? same_row(&comparison->files->items[at], row)
                     : looked_for_same(row));
}

int name_sources_same(const struct name_sources *sources, struct db *db,
                      struct diag *diag)
{
        struct comparison comparison = {&sources->files, 0};

        if (sources->build_unknown)
                return 0;
        int other = select_rows(
            db,
            "SELECT coalesce(module_id, 0), role, path, size_bytes, modified_ns"
            " FROM name_source WHERE EXISTS (SELECT 1 FROM location)"
            " ORDER BY source_id",
            differs, &comparison, diag);

        return other < 0 ? other : !other && comparison.at >= sources->files.count;
}

static bool put_row(void *context, struct bulk_insert *insert, size_t i)
{
        const struct looked_for_file *file = &((struct looked_for_file *)context)[i];

        bulk_insert_nonzero(insert, 0, (uint64_t)file->module_id);
        bulk_insert_text(insert, 1, file->role);
        bulk_insert_text(insert, 2, file->path);
        bulk_insert_int(insert, 3, (int64_t)file->size_bytes);
        bulk_insert_int(insert, 4, file->modified_ns);
        return true;
}

int name_sources_write(const struct name_sources *sources,
                       const struct looked_for *looked_for, struct db *db,
                       struct diag *diag)
{
        const struct looked_for *const lists[] = {&sources->files, looked_for};
        int error = db_exec(db, "DELETE FROM name_source", diag);

        for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && !error; i++) {
                const struct bulk_table table = {
                    "name_source", "module_id, role, path, size_bytes, modified_ns",
                    put_row, lists[i]->count};

                error = bulk_insert_tables(&table, 1, lists[i]->items, db, diag);
        }
        return error;
}
