/* SPDX-License-Identifier: MIT */
/* Names are counted by module; their texts do not matter. The kernel's code and code made
 * at run time have no file to compare: fewer names there are always lost names. Memlag's
 * own modules do not count: they belong to the memlag that recorded. */
#include "lost_names.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "bulk_insert.h"
#include "own_module.h"
#include "perf_map.h"

/* Counts the names of a module: functions, lines, inlined calls and variables. The texts
 * [vdso] and [JIT code] stand for unknown code and are no names. */
#define COUNTED                                                                          \
        " SELECT module_id, sum(functions) AS functions, sum(lines) AS lines,"           \
        "  sum(calls) AS calls, sum(variables) AS variables FROM"                        \
        "  (SELECT module_id, count(iif(function_id IN (SELECT name_id FROM name"        \
        "    WHERE text IN ('[vdso]', '" UNLISTED_CODE "')), NULL, function_id))"        \
        "    AS functions, count(line) AS lines,"                                        \
        "    0 AS calls, 0 AS variables FROM code_location GROUP BY module_id"           \
        "   UNION ALL SELECT module_id, 0, 0, count(*), 0"                               \
        "   FROM code_frame JOIN code_location USING (location_id) GROUP BY module_id"   \
        "   UNION ALL SELECT module_id, 0, 0, 0, count(*) FROM data_object"              \
        "   WHERE kind IN ('global', 'tls') GROUP BY module_id)"                         \
        " GROUP BY module_id"

static const char note_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS named_before (module_id INTEGER, functions INTEGER,"
    " lines INTEGER, calls INTEGER, variables INTEGER);"
    "CREATE TEMP TABLE IF NOT EXISTS source_before"
    " (module_id INTEGER, role TEXT, path TEXT, size_bytes INTEGER, modified_ns INTEGER);"
    "DELETE FROM temp.named_before; DELETE FROM temp.source_before;"
    "INSERT INTO temp.source_before"
    " SELECT module_id, role, path, size_bytes, modified_ns FROM name_source;"
    "INSERT INTO temp.named_before" COUNTED
    " HAVING sum(functions) + sum(lines) + sum(calls) + sum(variables) > 0;";

/* Whether the files of module B changed since its names were made. Split debug
 * information belongs to no module and counts for each. Files from servers are not
 * listed. */
#define OTHER_FILES                                                                      \
        " (NOT EXISTS (SELECT 1 FROM name_source AS s"                                   \
        "   WHERE s.module_id = b.module_id AND s.role = 'file')"                        \
        " OR EXISTS (SELECT module_id, role, path, size_bytes, modified_ns"              \
        "   FROM temp.source_before WHERE (module_id = b.module_id OR module_id IS "     \
        "NULL)"                                                                          \
        "   AND role IN ('file', 'debug', 'dwz') EXCEPT"                                 \
        "   SELECT module_id, role, path, size_bytes, modified_ns FROM name_source)"     \
        " OR EXISTS (SELECT 1 FROM temp.source_before"                                   \
        "   WHERE role = 'options' AND path LIKE '% debuginfod%'))"

static const char check_sql[] =
    "WITH now AS MATERIALIZED (" COUNTED "),"
    " fewer AS (SELECT b.module_id,"
    "  max(b.functions - coalesce(now.functions, 0), b.lines - coalesce(now.lines, 0),"
    "      b.calls - coalesce(now.calls, 0),"
    "      b.variables - coalesce(now.variables, 0)) AS lost"
    "  FROM temp.named_before AS b LEFT JOIN now ON now.module_id IS b.module_id) "
    "SELECT lost, count(*) OVER () - 1, " MODULE_IDENTITY_COLUMNS
    " FROM fewer AS b LEFT JOIN module USING (module_id)" MODULE_IDENTITY_JOIN
    "WHERE lost > 0 AND NOT coalesce(" MEMLAG_MODULE_SQL ", 0) AND" OTHER_FILES
    " ORDER BY lost DESC, module_id LIMIT 1";

int lost_names_note(struct db *db, bool *any, struct diag *diag)
{
        int error = db_exec(db, note_sql, diag);

        *any = !error && sqlite3_changes(db_sqlite(db)) > 0;
        return error;
}

/* Why a module's names became fewer without a file, or although it is READY. */
static const char *reason_without_file(const struct module_identity *identity)
{
        if (!identity->path)
                return "the list of code that its compiler made is not there";
        if (strcmp(identity->path, vdso_module) == 0)
                return "that kernel does not run now; say where its code in processes is "
                       "kept (--build-id-dir)";
        if (strcmp(identity->path, kernel_module) == 0)
                return "that kernel does not run now; give --vmlinux or --kallsyms";
        return "its debug information is not there; say where it is kept "
               "(--debuginfo-path)";
}

/* The kernel's code is in no file of that name. */
static bool is_kernel(const struct module_identity *identity)
{
        return strcmp(identity->path, kernel_module) == 0 ||
               strcmp(identity->path, vdso_module) == 0;
}

static const char *find_reason(const struct module_identity *identity,
                               const struct module_search *files)
{
        const bool has_id = identity->build_id_bytes > 0;
        struct elf_file file;
        int error = identity->path && !is_kernel(identity)
                        ? module_file_open(identity, files, &file)
                        : -EINVAL;

        if (!error)
                elf_file_close(&file);
        switch (error) {
        case -ESTALE:
                return has_id ? "another file is there now; say where the recorded file "
                                "is kept (--symfs, --build-id-dir)"
                              : "it was written since it was recorded; say where the "
                                "recorded file is kept (--symfs)";
        case -ENOEXEC:
                return "it is no sound ELF file now";
        case -ENOENT:
                return has_id ? "it is not there; say where the recorded file is kept "
                                "(--symfs, --build-id-dir)"
                              : "it is not there; say where the recorded file is kept "
                                "(--symfs)";
        default:
                return reason_without_file(identity);
        }
}

struct loss {
        const struct module_search *files;
        struct diag *diag;
};

static int say(void *context, sqlite3_stmt *row)
{
        const struct loss *loss = context;
        const struct module_identity identity = module_identity_of_row(row, 2);
        long long lost = sqlite3_column_int64(row, 0);
        long long others = sqlite3_column_int64(row, 1);
        char and_others[64] = "";

        if (others > 0)
                snprintf(and_others, sizeof(and_others), " (and of %lld other file%s)",
                         others, others == 1 ? "" : "s");
        return diag_set(loss->diag, -ESTALE,
                        "the names there are kept, as %lld of %s%s would be lost: %s "
                        "(--drop-names goes on without them)",
                        lost, identity.path ? identity.path : "code made at run time",
                        and_others, find_reason(&identity, loss->files));
}

int lost_names_check(struct db *db, const struct module_search *files, struct diag *diag)
{
        struct loss loss = {files, diag};

        return select_rows(db, check_sql, say, &loss, diag);
}
