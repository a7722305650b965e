/* SPDX-License-Identifier: MIT */
/* Writes raw rows, and de-duplicates shared objects: modules, data sources, counters,
 * calling contexts. Knows the schema, not the sources. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "contexts.h"
#include "db_internal.h"
#include "intern.h"
#include "row_group.h"
#include "total_pack.h"

/* A run has many such rows. OR FAIL: SQLite need not log an undo for the rows of one
 * statement, as none of the rows exists already. */
#define INSERT_STACK                                                                     \
        "INSERT OR FAIL INTO stack_node (stack_id, parent_id, process_id, ip) VALUES "
#define STACK_ROW "(?, ?, ?, ?)"
#define INSERT_SAMPLE                                                                    \
        "INSERT OR FAIL INTO sample (time_ns, thread_id, cpu, ip, addr, "                \
        "latency_cycles, data_source_id, stack_id, stall_ns, retire_latency_cycles) "    \
        "VALUES "
#define SAMPLE_ROW "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

/* X(symbol, sql): every statement of the writer. */
#define STATEMENTS(X)                                                                    \
        X(MACHINE, "INSERT INTO machine (key, value, unit, origin) "                     \
                   "VALUES (?1, ?2, ?3, ?4)")                                            \
        X(PROCESS, "INSERT INTO process (pid, parent_process_id, executable, start_ns) " \
                   "VALUES (?1, ?2, ?3, ?4)")                                            \
        X(PROCESS_END, "UPDATE process SET end_ns = ?2 "                                 \
                       "WHERE process_id = ?1 AND end_ns IS NULL")                       \
        X(THREAD, "INSERT INTO thread (process_id, tid, name, start_ns) "                \
                  "VALUES (?1, ?2, ?3, ?4)")                                             \
        X(THREAD_NAME, "UPDATE thread SET name = ?2 WHERE thread_id = ?1")               \
        X(THREAD_END, "UPDATE thread SET end_ns = ?2 "                                   \
                      "WHERE thread_id = ?1 AND end_ns IS NULL")                         \
        X(MODULE, "INSERT INTO module (path, build_id) VALUES (?1, ?2)")                 \
        X(MODULE_FILE, "INSERT INTO module_file (module_id, size_bytes, modified_ns, "   \
                       "checksum) VALUES (?1, ?2, ?3, ?4)")                              \
        X(MAPPING, "INSERT INTO mapping (process_id, kind, start_addr, length_bytes, "   \
                   "file_offset_bytes, module_id, protection, thread_id, start_ns) "     \
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")                        \
        X(MAPPING_END, "UPDATE mapping SET end_ns = ?2 "                                 \
                       "WHERE mapping_id = ?1 AND end_ns IS NULL")                       \
        X(DATA_SOURCE, "INSERT INTO data_source (op, level, tlb, snoop, locked, raw) "   \
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6)")                                \
        X(STACK, INSERT_STACK STACK_ROW)                                                 \
        X(STACKS, INSERT_STACK GROUP_OF(STACK_ROW))                                      \
        X(STACK_PACK, "INSERT INTO stack_pack (first_stack_id, process_id, return_ips, " \
                      "leaf_ips, nodes) VALUES (?1, ?2, ?3, ?4, ?5)")                    \
        X(SAMPLE, INSERT_SAMPLE SAMPLE_ROW)                                              \
        X(SAMPLES, INSERT_SAMPLE GROUP_OF(SAMPLE_ROW))                                   \
        X(STACK_ACCESS, "INSERT INTO stack_access (sample_id, depth, cfa_offset_bytes) " \
                        "VALUES (?1, ?2, ?3)")                                           \
        X(OTHER_STACK_ACCESS, "INSERT INTO other_stack_access (sample_id, stack_id, "    \
                              "cfa_offset_bytes) VALUES (?1, ?2, ?3)")                   \
        X(SAMPLE_PAGE, "INSERT INTO sample_page (sample_id, phys_addr, page_bytes) "     \
                       "VALUES (?1, ?2, ?3)")                                            \
        X(PAGE_FAULT, "INSERT INTO page_fault (sample_id, faults, kernel_cycles, "       \
                      "page_bytes) VALUES (?1, ?2, ?3, ?4)")                             \
        X(SET_CONFLICT, "INSERT INTO set_conflict (sample_id, sets) VALUES (?1, ?2)")    \
        X(LINE_USE, "INSERT OR IGNORE INTO line_use (sample_id, used_bytes, used_mask) " \
                    "VALUES (?1, ?2, ?3)")                                               \
        X(LINE_REUSE, "INSERT OR IGNORE INTO line_reuse (sample_id, cache_bytes) "       \
                      "VALUES (?1, ?2)")                                                 \
        X(THREAD_POINTER, "INSERT OR REPLACE INTO thread_pointer (thread_id, address) "  \
                          "VALUES (?1, ?2)")                                             \
        X(COUNTER, "INSERT INTO counter (name, unit, stands_for) VALUES (?1, ?2, ?3)")   \
        X(READING,                                                                       \
          "INSERT INTO reading (start_ns, end_ns, thread_id, counter_id, value) "        \
          "VALUES (?1, ?2, ?3, ?4, ?5)")                                                 \
        X(ALLOCATION, "INSERT INTO allocation (process_id, thread_id, function, addr, "  \
                      "size_bytes, stack_id, start_ns) "                                 \
                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")                             \
        X(ALLOCATION_END, "UPDATE allocation SET end_ns = ?2 "                           \
                          "WHERE allocation_id = ?1 AND end_ns IS NULL")                 \
        X(ALLOCATION_PACK, "INSERT INTO allocation_pack (function, allocations, "        \
                           "total_bytes, peak_bytes, stacks) "                           \
                           "VALUES (?1, ?2, ?3, ?4, ?5)")

enum statement_index {
#define STATEMENT_ENUM(symbol, sql) STATEMENT_##symbol,
        STATEMENTS(STATEMENT_ENUM)
#undef STATEMENT_ENUM
            STATEMENT_COUNT
};

static const char *const statement_sql[] = {
#define STATEMENT_SQL(symbol, sql) sql,
    STATEMENTS(STATEMENT_SQL)
#undef STATEMENT_SQL
};

struct writer {
        struct db *db;
        struct batch *batch;
        struct intern *modules;
        struct intern *data_sources;
        struct intern *counters;
        struct contexts *stacks;
        struct total_packs *totals;
        struct row_group samples;
        int64_t last_sample_id;
};

static int no_memory(struct writer *writer, struct diag *diag)
{
        return diag_set(diag, -ENOMEM, "cannot write %s: no memory", writer->db->path);
}

static void bind_text(sqlite3_stmt *statement, int parameter, const char *text)
{
        sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
}

static void bind_id(sqlite3_stmt *statement, int parameter, int64_t id)
{
        if (id)
                sqlite3_bind_int64(statement, parameter, id);
        else
                sqlite3_bind_null(statement, parameter);
}

static void bind_if(sqlite3_stmt *statement, int parameter, bool known, int64_t value)
{
        if (known)
                sqlite3_bind_int64(statement, parameter, value);
        else
                sqlite3_bind_null(statement, parameter);
}

/* ---- the writer ---- */

static void writer_free(struct writer *writer)
{
        intern_free(writer->modules);
        intern_free(writer->data_sources);
        intern_free(writer->counters);
        contexts_free(writer->stacks);
        total_packs_free(writer->totals);
        batch_free(writer->batch);
        free(writer);
}

/* Interning starts empty, therefore the tables must be empty, too. */
static int check_empty(struct db *db, struct diag *diag)
{
        sqlite3_stmt *statement;
        if (sqlite3_prepare_v2(db->sqlite,
                               "SELECT 1 FROM process UNION ALL SELECT 1 FROM sample", -1,
                               &statement, NULL))
                return db_error(db, "read", diag);
        int rc = sqlite3_step(statement);
        sqlite3_finalize(statement);
        if (rc == SQLITE_ROW)
                return diag_set(diag, -EEXIST, "%s holds a recording already", db->path);
        return rc == SQLITE_DONE ? 0 : db_error(db, "read", diag);
}

/* Opens the tables with many rows or a packed format. */
static int open_groups(struct writer *writer, struct diag *diag)
{
        writer->stacks = contexts_new(writer->batch, STATEMENT_STACK, STATEMENT_STACKS,
                                      STATEMENT_STACK_PACK);
        writer->totals = total_packs_new(writer->batch, STATEMENT_ALLOCATION_PACK);
        row_group_open(&writer->samples, writer->batch, STATEMENT_SAMPLE,
                       STATEMENT_SAMPLES, 10);
        return writer->stacks && writer->totals ? 0 : no_memory(writer, diag);
}

int writer_open(struct db *db, struct writer **result, struct diag *diag)
{
        *result = NULL;
        int code = check_empty(db, diag);
        if (code)
                return code;
        struct writer *writer = calloc(1, sizeof(*writer));
        if (!writer)
                return diag_set(diag, -ENOMEM, "cannot write %s: no memory", db->path);
        writer->db = db;
        writer->modules = intern_new();
        writer->data_sources = intern_new();
        writer->counters = intern_new();
        if (!writer->modules || !writer->data_sources || !writer->counters)
                code = no_memory(writer, diag);
        else
                code = batch_open(db, statement_sql, STATEMENT_COUNT, STATEMENT_SAMPLE,
                                  &writer->batch, diag);
        if (!code)
                code = open_groups(writer, diag);
        if (code) {
                writer_free(writer);
                return code;
        }
        *result = writer;
        return 0;
}

int writer_flush(struct writer *writer, struct diag *diag)
{
        int code = contexts_write_pack(writer->stacks, diag);
        if (!code)
                code = total_packs_write(writer->totals, diag);
        return code ? code : batch_flush(writer->batch, diag);
}

int writer_close(struct writer *writer, struct diag *diag)
{
        if (!writer)
                return 0;
        int code = writer_flush(writer, diag);
        writer_free(writer);
        return code;
}

/* ---- processes, threads, mappings ---- */

/* Fills in the end of the row ID, once: a second end changes nothing. */
static int end_at(struct writer *writer, enum statement_index index, int64_t id,
                  int64_t end_ns, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, index, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, id);
        sqlite3_bind_int64(statement, 2, end_ns);
        return batch_end_row(writer->batch, NULL, diag);
}

int writer_machine(struct writer *writer, const char *key, double value, const char *unit,
                   const char *origin, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_MACHINE, &statement, diag);
        if (code)
                return code;
        bind_text(statement, 1, key);
        sqlite3_bind_double(statement, 2, value);
        bind_text(statement, 3, unit);
        bind_text(statement, 4, origin);
        return batch_end_row(writer->batch, NULL, diag);
}

int writer_process(struct writer *writer, int64_t pid, int64_t parent_id,
                   const char *executable, int64_t start_ns, int64_t *id,
                   struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_PROCESS, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, pid);
        bind_id(statement, 2, parent_id);
        bind_text(statement, 3, executable);
        sqlite3_bind_int64(statement, 4, start_ns);
        return batch_end_row(writer->batch, id, diag);
}

int writer_process_end(struct writer *writer, int64_t process_id, int64_t end_ns,
                       struct diag *diag)
{
        return end_at(writer, STATEMENT_PROCESS_END, process_id, end_ns, diag);
}

int writer_thread(struct writer *writer, int64_t process_id, int64_t tid,
                  const char *name, int64_t start_ns, int64_t *id, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_THREAD, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, process_id);
        sqlite3_bind_int64(statement, 2, tid);
        bind_text(statement, 3, name);
        sqlite3_bind_int64(statement, 4, start_ns);
        return batch_end_row(writer->batch, id, diag);
}

int writer_thread_name(struct writer *writer, int64_t thread_id, const char *name,
                       struct diag *diag)
{
        sqlite3_stmt *statement;
        int code =
            batch_begin_row(writer->batch, STATEMENT_THREAD_NAME, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, thread_id);
        bind_text(statement, 2, name);
        return batch_end_row(writer->batch, NULL, diag);
}

int writer_thread_end(struct writer *writer, int64_t thread_id, int64_t end_ns,
                      struct diag *diag)
{
        return end_at(writer, STATEMENT_THREAD_END, thread_id, end_ns, diag);
}

static int insert_module(struct writer *writer, const char *path, const uint8_t *build_id,
                         size_t length, int64_t *id, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_MODULE, &statement, diag);
        if (code)
                return code;
        bind_text(statement, 1, path);
        if (length)
                sqlite3_bind_blob64(statement, 2, build_id, length, SQLITE_STATIC);
        else
                sqlite3_bind_null(statement, 2);
        return batch_end_row(writer->batch, id, diag);
}

/* Returns the id slot of the module identified by PATH and the LENGTH bytes at BUILD_ID;
 * NULL: no memory. */
static int64_t *module_place(struct writer *writer, const char *path,
                             const uint8_t *build_id, size_t length)
{
        size_t path_size = strlen(path) + 1;
        char *key = malloc(path_size + length);
        if (!key)
                return NULL;
        memcpy(key, path, path_size);
        if (length)
                memcpy(key + path_size, build_id, length);
        int64_t *place = intern_place(writer->modules, key, path_size + length);
        free(key);
        return place;
}

int writer_module(struct writer *writer, const char *path, const uint8_t *build_id,
                  size_t length, int64_t *id, struct diag *diag)
{
        int64_t *place = module_place(writer, path, build_id, length);
        if (!place)
                return no_memory(writer, diag);
        int code =
            *place ? 0 : insert_module(writer, path, build_id, length, place, diag);
        *id = *place;
        return code;
}

int writer_new_module(struct writer *writer, const char *path, int64_t *id,
                      struct diag *diag)
{
        return insert_module(writer, path, NULL, 0, id, diag);
}

int writer_module_file(struct writer *writer, int64_t module_id,
                       const struct module_file_row *file, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code =
            batch_begin_row(writer->batch, STATEMENT_MODULE_FILE, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, module_id);
        sqlite3_bind_int64(statement, 2, (int64_t)file->size_bytes);
        sqlite3_bind_int64(statement, 3, file->modified_ns);
        sqlite3_bind_int64(statement, 4, file->changed ? -1 : (int64_t)file->checksum);
        return batch_end_row(writer->batch, NULL, diag);
}

int writer_mapping(struct writer *writer, const struct mapping_row *row, int64_t *id,
                   struct diag *diag)
{
        static const char *const kinds[] = {[MAPPING_FILE] = "file",
                                            [MAPPING_ANON] = "anon",
                                            [MAPPING_HEAP] = "heap",
                                            [MAPPING_STACK] = "stack",
                                            [MAPPING_VDSO] = "vdso"};
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_MAPPING, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, row->process_id);
        bind_text(statement, 2, kinds[row->kind]);
        sqlite3_bind_int64(statement, 3, (int64_t)row->start_addr);
        sqlite3_bind_int64(statement, 4, (int64_t)row->length_bytes);
        bind_if(statement, 5, row->module_id != 0, (int64_t)row->file_offset_bytes);
        bind_id(statement, 6, row->module_id);
        bind_text(statement, 7, row->protection);
        bind_id(statement, 8, row->thread_id);
        sqlite3_bind_int64(statement, 9, row->start_ns);
        return batch_end_row(writer->batch, id, diag);
}

int writer_mapping_end(struct writer *writer, int64_t mapping_id, int64_t end_ns,
                       struct diag *diag)
{
        return end_at(writer, STATEMENT_MAPPING_END, mapping_id, end_ns, diag);
}

/* ---- samples ---- */

static int insert_data_source(struct writer *writer, const struct data_source_row *row,
                              int64_t *id, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code =
            batch_begin_row(writer->batch, STATEMENT_DATA_SOURCE, &statement, diag);
        if (code)
                return code;
        bind_text(statement, 1, row->op);
        bind_text(statement, 2, row->level);
        bind_text(statement, 3, row->tlb);
        bind_text(statement, 4, row->snoop);
        sqlite3_bind_int64(statement, 5, row->locked);
        bind_if(statement, 6, row->has_raw, (int64_t)row->raw);
        return batch_end_row(writer->batch, id, diag);
}

enum { WORD_MOST_BYTES = 32, SOURCE_KEY_BYTES = 9 + 4 * (WORD_MOST_BYTES + 1) };

/* Sets KEY to all of ROW, and returns its length. It is made for every sample. */
static size_t data_source_key(const struct data_source_row *row,
                              char key[SOURCE_KEY_BYTES])
{
        const char *const words[] = {row->op, row->level, row->tlb, row->snoop};
        const uint64_t raw = row->has_raw ? row->raw : 0;
        char *end = key;
        *end++ = (char)(row->locked | row->has_raw << 1);
        end = mempcpy(end, &raw, sizeof(raw));
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
                end = mempcpy(end, words[i], strnlen(words[i], WORD_MOST_BYTES));
                *end++ = '|';
        }
        return (size_t)(end - key);
}

int writer_data_source(struct writer *writer, const struct data_source_row *row,
                       int64_t *id, struct diag *diag)
{
        char key[SOURCE_KEY_BYTES];
        int64_t *place =
            intern_place(writer->data_sources, key, data_source_key(row, key));
        if (!place)
                return no_memory(writer, diag);
        int code = *place ? 0 : insert_data_source(writer, row, place, diag);
        *id = *place;
        return code;
}

int writer_stack(struct writer *writer, int64_t process_id, const uint64_t *ips,
                 size_t depth, enum context_use use, int64_t *id, struct diag *diag)
{
        return contexts_find(writer->stacks, process_id, ips, depth, use, id, diag);
}

static int insert_stack_access(struct writer *writer, int64_t sample_id,
                               const struct sample_row *row, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code =
            batch_begin_row(writer->batch, STATEMENT_STACK_ACCESS, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, sample_id);
        sqlite3_bind_int64(statement, 2, row->stack_frame - 1);
        sqlite3_bind_int64(statement, 3, row->cfa_offset_bytes);
        return batch_end_row(writer->batch, NULL, diag);
}

static int insert_other_stack_access(struct writer *writer, int64_t sample_id,
                                     const struct sample_row *row, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_OTHER_STACK_ACCESS,
                                   &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, sample_id);
        sqlite3_bind_int64(statement, 2, row->other_stack_id);
        sqlite3_bind_int64(statement, 3, row->cfa_offset_bytes);
        return batch_end_row(writer->batch, NULL, diag);
}

static int insert_page(struct writer *writer, int64_t sample_id,
                       const struct sample_row *row, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code =
            batch_begin_row(writer->batch, STATEMENT_SAMPLE_PAGE, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, sample_id);
        bind_id(statement, 2, (int64_t)row->phys_addr);
        bind_id(statement, 3, row->page_bytes);
        return batch_end_row(writer->batch, NULL, diag);
}

static int insert_page_fault(struct writer *writer, int64_t sample_id,
                             const struct sample_row *row, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_PAGE_FAULT, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, sample_id);
        sqlite3_bind_int64(statement, 2, row->faults);
        sqlite3_bind_int64(statement, 3, row->kernel_cycles);
        sqlite3_bind_int64(statement, 4, row->fault_page_bytes);
        return batch_end_row(writer->batch, NULL, diag);
}

static int insert_set_conflict(struct writer *writer, int64_t sample_id,
                               const struct sample_row *row, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code =
            batch_begin_row(writer->batch, STATEMENT_SET_CONFLICT, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, sample_id);
        sqlite3_bind_int64(statement, 2, row->few_sets);
        return batch_end_row(writer->batch, NULL, diag);
}

int writer_sample(struct writer *writer, const struct sample_row *row, int64_t *sample_id,
                  struct diag *diag)
{
        const struct group_value values[] = {
            {true, row->time_ns},
            {true, row->thread_id},
            {row->cpu >= 0, row->cpu},
            {true, (int64_t)row->ip},
            {row->has_addr, (int64_t)row->addr},
            {row->latency_cycles >= 0, row->latency_cycles},
            {row->data_source_id != 0, row->data_source_id},
            {row->stack_id != 0, row->stack_id},
            {row->stall_ns != 0, row->stall_ns},
            {row->retire_latency_cycles >= 0, row->retire_latency_cycles},
        };
        int code = row_group_add(&writer->samples, values, diag);
        int64_t id = ++writer->last_sample_id; /* SQLite numbers from 1, too */
        if (!code && row->stack_frame)
                code = insert_stack_access(writer, id, row, diag);
        if (!code && row->other_stack_id)
                code = insert_other_stack_access(writer, id, row, diag);
        if (!code && (row->phys_addr || row->page_bytes))
                code = insert_page(writer, id, row, diag);
        if (!code && row->few_sets)
                code = insert_set_conflict(writer, id, row, diag);
        if (!code && row->faults)
                code = insert_page_fault(writer, id, row, diag);
        if (!code && sample_id)
                *sample_id = id;
        return code;
}

int writer_line_use(struct writer *writer, int64_t sample_id, uint64_t used,
                    struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_LINE_USE, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, sample_id);
        sqlite3_bind_int64(statement, 2, __builtin_popcountll(used));
        sqlite3_bind_int64(statement, 3, (int64_t)used);
        return batch_end_row(writer->batch, NULL, diag);
}

int writer_line_reuse(struct writer *writer, int64_t sample_id, int64_t cache_bytes,
                      struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_LINE_REUSE, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, sample_id);
        bind_id(statement, 2, cache_bytes);
        return batch_end_row(writer->batch, NULL, diag);
}

int writer_thread_pointer(struct writer *writer, int64_t thread_id, uint64_t address,
                          struct diag *diag)
{
        sqlite3_stmt *statement;
        int code =
            batch_begin_row(writer->batch, STATEMENT_THREAD_POINTER, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, thread_id);
        sqlite3_bind_int64(statement, 2, (int64_t)address);
        return batch_end_row(writer->batch, NULL, diag);
}

/* ---- counters ---- */

static int insert_counter(struct writer *writer, const char *name, const char *unit,
                          const char *stands_for, int64_t *id, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_COUNTER, &statement, diag);
        if (code)
                return code;
        bind_text(statement, 1, name);
        bind_text(statement, 2, unit);
        bind_text(statement, 3, stands_for);
        return batch_end_row(writer->batch, id, diag);
}

int writer_counter(struct writer *writer, const char *name, const char *unit,
                   const char *stands_for, int64_t *id, struct diag *diag)
{
        int64_t *place = intern_place(writer->counters, name, strlen(name));
        if (!place)
                return no_memory(writer, diag);
        int code =
            *place ? 0 : insert_counter(writer, name, unit, stands_for, place, diag);
        *id = *place;
        return code;
}

int writer_reading(struct writer *writer, int64_t start_ns, int64_t end_ns,
                   int64_t thread_id, int64_t counter_id, uint64_t value,
                   struct diag *diag)
{
        if (value == 0)
                return 0;
        sqlite3_stmt *statement;
        int code = batch_begin_row(writer->batch, STATEMENT_READING, &statement, diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, start_ns);
        sqlite3_bind_int64(statement, 2, end_ns);
        sqlite3_bind_int64(statement, 3, thread_id);
        sqlite3_bind_int64(statement, 4, counter_id);
        sqlite3_bind_int64(statement, 5, (int64_t)value);
        return batch_end_row(writer->batch, NULL, diag);
}

/* ---- allocations ---- */

int writer_allocation(struct writer *writer, const struct allocation_row *row,
                      int64_t *id, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = contexts_write_pack_of(writer->stacks, row->stack_id, diag);
        if (!code)
                code = batch_begin_row(writer->batch, STATEMENT_ALLOCATION, &statement,
                                       diag);
        if (code)
                return code;
        sqlite3_bind_int64(statement, 1, row->process_id);
        bind_id(statement, 2, row->thread_id);
        bind_text(statement, 3, row->function);
        sqlite3_bind_int64(statement, 4, (int64_t)row->addr);
        sqlite3_bind_int64(statement, 5, (int64_t)row->size_bytes);
        bind_id(statement, 6, row->stack_id);
        sqlite3_bind_int64(statement, 7, row->start_ns);
        return batch_end_row(writer->batch, id, diag);
}

int writer_allocation_end(struct writer *writer, int64_t allocation_id, int64_t end_ns,
                          struct diag *diag)
{
        return end_at(writer, STATEMENT_ALLOCATION_END, allocation_id, end_ns, diag);
}

int writer_allocation_total(struct writer *writer, int64_t stack_id, const char *function,
                            uint64_t allocations, uint64_t total_bytes,
                            uint64_t peak_bytes, struct diag *diag)
{
        const struct site_total total = {function, allocations, total_bytes, peak_bytes};
        return total_packs_add(writer->totals, stack_id, &total, diag);
}
