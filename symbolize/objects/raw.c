/* SPDX-License-Identifier: MIT */
/* Reads the raw rows. The database may be anybody's: nothing in it is trusted. */
#include "raw.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "bulk_insert.h"
#include "pack.h"

struct reader;
/* 0 or -ENOMEM. */
typedef int read_row(struct reader *reader, sqlite3_stmt *row);

struct reader {
        struct raw *raw;
        read_row *read;
        size_t capacity;    /* of the current array */
        size_t id_capacity; /* of its ids */
};

static int take(void *context, sqlite3_stmt *row)
{
        struct reader *reader = context;

        return reader->read(reader, row);
}

static bool id_is_below(const void *item, const void *key)
{
        return *(const int64_t *)item < *(const int64_t *)key;
}

/* Ids mostly have no gaps. */
uint32_t raw_index(int64_t id, const int64_t *ids, size_t count)
{
        if (id >= 1 && (uint64_t)id <= count && ids[id - 1] == id)
                return (uint32_t)(id - 1);
        size_t at = array_count_before(ids, count, sizeof(*ids), id_is_below, &id);

        return at < count && ids[at] == id ? (uint32_t)at : RAW_NONE;
}

static uint32_t column_index(sqlite3_stmt *row, int column, const int64_t *ids,
                             size_t count)
{
        if (sqlite3_column_type(row, column) == SQLITE_NULL)
                return RAW_NONE;
        return raw_index(sqlite3_column_int64(row, column), ids, count);
}

static struct raw_period column_period(sqlite3_stmt *row, int column)
{
        struct raw_period period = {sqlite3_column_int64(row, column), INT64_MAX};

        if (sqlite3_column_type(row, column + 1) != SQLITE_NULL)
                period.end_ns = sqlite3_column_int64(row, column + 1);
        if (period.end_ns < period.start_ns)
                period.end_ns = period.start_ns;
        return period;
}

static uint64_t end_of(uint64_t start, uint64_t bytes)
{
        return bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
}

/* Makes room for row number COUNT of ITEMS, a pointer to the array, and notes its id. */
static int add_row(struct reader *reader, sqlite3_stmt *row, int64_t **ids, void *items,
                   size_t item_bytes, size_t count)
{
        if (count >= RAW_NONE ||
            array_reserve(ids, &reader->id_capacity, count, sizeof(**ids)) < 0 ||
            array_reserve(items, &reader->capacity, count, item_bytes) < 0)
                return -ENOMEM;
        (*ids)[count] = sqlite3_column_int64(row, 0);
        return 0;
}

static int read_process(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        int error = add_row(reader, row, &raw->process_ids, &raw->processes,
                            sizeof(*raw->processes), raw->process_count);

        if (error)
                return error;
        bool begun = sqlite3_column_type(row, 2) != SQLITE_NULL;
        bool ended = sqlite3_column_type(row, 3) != SQLITE_NULL;

        raw->processes[raw->process_count++] = (struct raw_process){
            .pid = sqlite3_column_int64(row, 1),
            .begun_s = begun ? sqlite3_column_int64(row, 2) : INT64_MIN,
            .ended_s = ended ? sqlite3_column_int64(row, 3) : INT64_MAX};
        return 0;
}

static int read_thread(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        int error = add_row(reader, row, &raw->thread_ids, &raw->threads,
                            sizeof(*raw->threads), raw->thread_count);

        if (error)
                return error;
        raw->threads[raw->thread_count++] = (struct raw_thread){
            .process = column_index(row, 1, raw->process_ids, raw->process_count),
            .tid = sqlite3_column_int64(row, 2),
            .thread_pointer = (uint64_t)sqlite3_column_int64(row, 3)};
        return 0;
}

static int read_module(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        int error = add_row(reader, row, &raw->module_ids, &raw->modules,
                            sizeof(*raw->modules), raw->module_count);
        struct module_identity wanted = module_identity_of_row(row, 1);

        if (error)
                return error;
        wanted.path = strdup(wanted.path ?: "");
        if (wanted.build_id_bytes > 0) {
                void *copy = malloc(wanted.build_id_bytes);

                if (copy)
                        memcpy(copy, wanted.build_id, wanted.build_id_bytes);
                wanted.build_id = copy;
        }
        raw->modules[raw->module_count++] =
            (struct module){.module_id = sqlite3_column_int64(row, 0),
                            .wanted = wanted,
                            .state = MODULE_MISSING};
        return wanted.path && (wanted.build_id || wanted.build_id_bytes == 0) ? 0
                                                                              : -ENOMEM;
}

/* Columns: process_id, module_id; some or all processes, in their order. */
static int read_executable(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        uint32_t process = column_index(row, 0, raw->process_ids, raw->process_count);

        if (!raw->executables) {
                raw->executables = malloc(raw->process_count * sizeof(uint32_t));
                if (!raw->executables)
                        return -ENOMEM;
                memset(raw->executables, 0xff, raw->process_count * sizeof(uint32_t));
        }
        if (process != RAW_NONE)
                raw->executables[process] =
                    column_index(row, 1, raw->module_ids, raw->module_count);
        return 0;
}

static enum raw_mapping_kind mapping_kind(const char *text)
{
        static const char *const names[] = {"file", "anon", "heap", "stack", "vdso"};

        for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(text, names[i]) == 0)
                        return (enum raw_mapping_kind)i;
        return RAW_ANON;
}

static int read_mapping(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        const char *protection = (const char *)sqlite3_column_text(row, 6);

        struct raw_mapping mapping = {
            .process = column_index(row, 0, raw->process_ids, raw->process_count),
            .kind = mapping_kind((const char *)sqlite3_column_text(row, 1)),
            .start = (uint64_t)sqlite3_column_int64(row, 2),
            .file_offset_bytes = (uint64_t)sqlite3_column_int64(row, 4),
            .module = column_index(row, 5, raw->module_ids, raw->module_count),
            .writable = protection && strchr(protection, 'w'),
            .executable = protection && strchr(protection, 'x'),
            .thread = column_index(row, 7, raw->thread_ids, raw->thread_count),
            .period = column_period(row, 8)};
        mapping.end = end_of(mapping.start, (uint64_t)sqlite3_column_int64(row, 3));
        return raw->mapping_count < RAW_NONE
                   ? APPEND(raw->mappings, raw->mapping_count, reader->capacity, mapping)
                   : -ENOMEM;
}

/* The node ID has a row besides the one in a pack. */
static void mark_unpacked(struct raw *raw, int64_t id)
{
        uint32_t index = raw_index(id, raw->stack_ids, raw->stack_count);

        if (index != RAW_NONE)
                raw->stacks[index].packed = false;
}

/* Columns 4 to 6 contain a pack, NULL in a row of one node. Rows and packs each come in
 * ascending order of numbers. A node in both comes twice. */
static int read_stack(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        int64_t id = sqlite3_column_int64(row, 0);
        uint32_t process = column_index(row, 2, raw->process_ids, raw->process_count);

        if (sqlite3_column_type(row, 4) != SQLITE_NULL)
                return pack_read_stacks(raw, &reader->capacity, &reader->id_capacity, row,
                                        4, id, process);
        if (raw->stack_count > 0 && id <= raw->stack_ids[raw->stack_count - 1]) {
                mark_unpacked(raw, id);
                return 0;
        }
        const struct raw_stack stack = {
            .parent = column_index(row, 1, raw->stack_ids, raw->stack_count),
            .process = process,
            .ip = (uint64_t)sqlite3_column_int64(row, 3)};
        return pack_put_stack(raw, &reader->capacity, &reader->id_capacity, id, &stack);
}

static int read_code(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        uint32_t process = column_index(row, 0, raw->process_ids, raw->process_count);

        return pack_read_codes(raw, &reader->capacity, row, 1, process);
}

/* Whether the allocating function maps memory instead of taking it from a heap. */
static bool maps_region(sqlite3_stmt *row, int column)
{
        const char *function = (const char *)sqlite3_column_text(row, column);

        return function &&
               (strcmp(function, "mmap") == 0 || strcmp(function, "mremap") == 0);
}

static int read_allocation(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;

        const struct raw_allocation block = {
            .process = column_index(row, 0, raw->process_ids, raw->process_count),
            .region = maps_region(row, 1),
            .addr = (uint64_t)sqlite3_column_int64(row, 2),
            .size_bytes = (uint64_t)sqlite3_column_int64(row, 3),
            .stack = column_index(row, 4, raw->stack_ids, raw->stack_count),
            .period = column_period(row, 5)};

        return raw->allocation_count < RAW_NONE
                   ? APPEND(raw->allocations, raw->allocation_count, reader->capacity,
                            block)
                   : -ENOMEM;
}

/* Column 5 contains a pack, NULL in a row of one site. */
static int read_total(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        const struct raw_total total = {
            .stack = column_index(row, 0, raw->stack_ids, raw->stack_count),
            .region = maps_region(row, 1),
            .allocations = (uint64_t)sqlite3_column_int64(row, 2),
            .total_bytes = (uint64_t)sqlite3_column_int64(row, 3),
            .peak_bytes = (uint64_t)sqlite3_column_int64(row, 4)};

        return sqlite3_column_type(row, 5) != SQLITE_NULL
                   ? pack_read_totals(raw, &reader->capacity, row, 5, &total)
                   : APPEND(raw->totals, raw->total_count, reader->capacity, total);
}

static int read_source(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        int error = add_row(reader, row, &raw->source_ids, &raw->stores,
                            sizeof(*raw->stores), raw->source_count);

        if (!error)
                raw->stores[raw->source_count++] = sqlite3_column_int(row, 1) != 0;
        return error;
}

static int read_clock(struct reader *reader, sqlite3_stmt *row)
{
        struct raw *raw = reader->raw;
        int error = add_row(reader, row, &raw->clock_ids, &raw->clocks,
                            sizeof(*raw->clocks), raw->clock_count);

        if (error)
                return error;
        raw->clocks[raw->clock_count++] = (struct raw_clock){
            .module = column_index(row, 1, raw->module_ids, raw->module_count),
            .file_offset_bytes = (uint64_t)sqlite3_column_int64(row, 2),
            .executed = sqlite3_column_int(row, 3) != 0};
        return 0;
}

int raw_read(struct raw *raw, struct db *db, struct diag *diag)
{
        static const struct {
                const char *sql;
                read_row *read;
        } tables[] = {
            /* A process from before the run (start_ns is 0) has an unknown begin; a
             * process that outlived the run has an unknown end. Modelled time is no wall
             * clock, so the run's wall clock replaces it, in whole seconds. */
            {"SELECT process_id, pid,"
             " CASE WHEN modelled THEN began"
             " WHEN start_ns > 0 THEN began + start_ns / 1000000000 END,"
             " CASE WHEN end_ns IS NULL THEN NULL WHEN modelled THEN ended + 1"
             " ELSE began + end_ns / 1000000000 + 2 END"
             " FROM process, (SELECT"
             " CAST(strftime('%s', max(value) FILTER (WHERE key = 'start')) AS INTEGER)"
             " AS began,"
             " CAST(strftime('%s', max(value) FILTER (WHERE key = 'end')) AS INTEGER)"
             " AS ended,"
             " max(key = 'numbers' AND value = 'modelled') AS modelled FROM run)"
             " ORDER BY process_id",
             read_process},
            {"SELECT thread_id, process_id, tid, address FROM thread"
             " LEFT JOIN thread_pointer USING (thread_id) ORDER BY thread_id",
             read_thread},
            {"SELECT module_id, " MODULE_IDENTITY_COLUMNS
             " FROM module" MODULE_IDENTITY_JOIN "ORDER BY module_id",
             read_module},
            {"SELECT process_id, min(module_id) FROM process JOIN module"
             " ON path = executable GROUP BY process_id ORDER BY process_id",
             read_executable},
            {"SELECT process_id, kind, start_addr, length_bytes, file_offset_bytes,"
             " module_id, protection, thread_id, start_ns, end_ns"
             " FROM mapping ORDER BY mapping_id",
             read_mapping},
            {"SELECT stack_id, parent_id, process_id, ip, NULL, NULL, NULL FROM "
             "stack_node"
             " UNION ALL SELECT first_stack_id, NULL, process_id, NULL, return_ips,"
             " leaf_ips, nodes FROM stack_pack WHERE EXISTS (SELECT 1 FROM allocation)"
             " ORDER BY 1",
             read_stack},
            {"SELECT process_id, return_ips, leaf_ips FROM stack_pack", read_code},
            {"SELECT process_id, function, addr, size_bytes, stack_id, start_ns, end_ns"
             " FROM allocation ORDER BY allocation_id",
             read_allocation},
            {"SELECT stack_id, function, allocations, total_bytes, peak_bytes, NULL"
             " FROM allocation_site"
             " UNION ALL SELECT NULL, function, allocations, total_bytes, peak_bytes,"
             " stacks FROM allocation_pack WHERE EXISTS (SELECT 1 FROM allocation)",
             read_total},
            {"SELECT data_source_id, op = 'store' FROM data_source"
             " WHERE op = 'store' OR op = 'NA' AND level = 'NA' ORDER BY data_source_id",
             read_source},
            {"SELECT clock_sample_id, module_id, file_offset_bytes, 0 FROM clock_sample"
             " UNION ALL SELECT instruction_sample_id, module_id, file_offset_bytes, 1"
             " FROM instruction_sample ORDER BY 4, 1",
             read_clock},
        };
        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
                struct reader reader = {.raw = raw, .read = tables[i].read};
                int error = select_rows(db, tables[i].sql, take, &reader, diag);

                if (error == -ENOMEM)
                        diag_set(diag, error, "out of memory while reading the samples");
                if (error)
                        return error;
        }
        pack_order_codes(raw);
        pack_order_totals(raw);
        return 0;
}

uint64_t raw_kernel_text(const struct raw_mapping *mapping)
{
        return mapping->file_offset_bytes ? mapping->file_offset_bytes : mapping->start;
}

/* For a mapping in the upper half or of the kernel: 32-bit modules are not recognised. */
static void find_kernel_bias(struct raw_mapping *mapping, struct module *module,
                             enum raw_kallsyms kallsyms)
{
        if (module->kernel && module->state == MODULE_READY) {
                mapping->in_image = true;
                mapping->bias = raw_kernel_text(mapping) - module->kernel_text;
        } else if (kallsyms == RAW_KALLSYMS_ALL ||
                   (kallsyms == RAW_KALLSYMS_KERNEL && module->kernel)) {
                mapping->in_image = true;
                module->state = MODULE_KALLSYMS;
        }
}

void raw_find_biases(struct raw *raw, enum raw_kallsyms kallsyms)
{
        for (size_t i = 0; i < raw->mapping_count; i++) {
                struct raw_mapping *mapping = &raw->mappings[i];

                if (mapping->module == RAW_NONE)
                        continue;
                struct module *module = &raw->modules[mapping->module];

                mapping->kernel = module->kernel || mapping->start >> 63;
                if (mapping->kernel)
                        find_kernel_bias(mapping, module, kallsyms);
                else if (module->state == MODULE_READY)
                        mapping->in_image = elf_file_bias(
                            &module->file, mapping->start, mapping->file_offset_bytes,
                            mapping->executable, &mapping->bias);
        }
}

void raw_free(struct raw *raw)
{
        for (size_t i = 0; i < raw->module_count; i++)
                module_close(&raw->modules[i]);
        free(raw->process_ids);
        free(raw->processes);
        free(raw->executables);
        free(raw->threads);
        free(raw->thread_ids);
        free(raw->modules);
        free(raw->module_ids);
        free(raw->mappings);
        free(raw->stacks);
        free(raw->stack_ids);
        free(raw->codes);
        free(raw->allocations);
        free(raw->totals);
        free(raw->source_ids);
        free(raw->stores);
        free(raw->clocks);
        free(raw->clock_ids);
        *raw = (struct raw){0};
}
