/* SPDX-License-Identifier: MIT */
/* Rows that are read and checked, not written. */
#include "row_writer.h"

#include <stdlib.h>
#include <string.h>

static void read_all(struct writer *writer, const void *bytes, size_t size)
{
        for (size_t i = 0; i < size; i++)
                writer->sum += ((const uint8_t *)bytes)[i];
}

static void read_text(struct writer *writer, const char *text)
{
        if (text)
                read_all(writer, text, strlen(text));
}

/* The key of a new row. */
static int add_row(int64_t *rows, int64_t *id)
{
        *id = ++*rows;
        return 0;
}

/* A row that is changed, or that another one cannot be without. */
static int must_be_there(int64_t rows, int64_t id)
{
        if (id < 1 || id > rows)
                abort();
        return 0;
}

/* One that another row may name; 0: it does not. */
static void may_be_there(int64_t rows, int64_t id)
{
        if (id != 0)
                must_be_there(rows, id);
}

/* A writer that changes a row. */
#define CHANGES(name, rows, type)                                                        \
        int name(struct writer *writer, int64_t id, type value, struct diag *diag)       \
        {                                                                                \
                return must_be_there(writer->rows, id);                                  \
        }
CHANGES(writer_process_end, processes, int64_t)
CHANGES(writer_thread_end, threads, int64_t)
CHANGES(writer_mapping_end, mappings, int64_t)
CHANGES(writer_thread_pointer, threads, uint64_t)
CHANGES(writer_allocation_end, allocations, int64_t)

int writer_machine(struct writer *writer, const char *key, double value, const char *unit,
                   const char *origin, struct diag *diag)
{
        read_text(writer, key);
        read_text(writer, unit);
        read_text(writer, origin);
        return 0;
}

int writer_process(struct writer *writer, int64_t pid, int64_t parent_id,
                   const char *executable, int64_t start_ns, int64_t *id,
                   struct diag *diag)
{
        read_text(writer, executable);
        may_be_there(writer->processes, parent_id);
        return add_row(&writer->processes, id);
}

int writer_thread(struct writer *writer, int64_t process_id, int64_t tid,
                  const char *name, int64_t start_ns, int64_t *id, struct diag *diag)
{
        read_text(writer, name);
        must_be_there(writer->processes, process_id);
        return add_row(&writer->threads, id);
}

int writer_thread_name(struct writer *writer, int64_t thread_id, const char *name,
                       struct diag *diag)
{
        read_text(writer, name);
        return must_be_there(writer->threads, thread_id);
}

int writer_module(struct writer *writer, const char *path, const uint8_t *build_id,
                  size_t length, int64_t *id, struct diag *diag)
{
        read_text(writer, path);
        read_all(writer, build_id, length);
        return add_row(&writer->modules, id);
}

int writer_new_module(struct writer *writer, const char *path, int64_t *id,
                      struct diag *diag)
{
        read_text(writer, path);
        return add_row(&writer->modules, id);
}

int writer_module_file(struct writer *writer, int64_t module_id,
                       const struct module_file_row *file, struct diag *diag)
{
        read_all(writer, (const uint8_t *)file, sizeof(*file));
        return 0;
}

int writer_mapping(struct writer *writer, const struct mapping_row *row, int64_t *id,
                   struct diag *diag)
{
        if (row->length_bytes == 0)
                abort();
        read_text(writer, row->protection);
        must_be_there(writer->processes, row->process_id);
        may_be_there(writer->modules, row->module_id);
        may_be_there(writer->threads, row->thread_id);
        return add_row(&writer->mappings, id);
}

int writer_data_source(struct writer *writer, const struct data_source_row *row,
                       int64_t *id, struct diag *diag)
{
        read_text(writer, row->op);
        read_text(writer, row->level);
        read_text(writer, row->tlb);
        read_text(writer, row->snoop);
        return add_row(&writer->data_sources, id);
}

int writer_stack(struct writer *writer, int64_t process_id, const uint64_t *ips,
                 size_t depth, enum context_use use, int64_t *id, struct diag *diag)
{
        read_all(writer, ips, depth * sizeof(*ips));
        must_be_there(writer->processes, process_id);
        return add_row(&writer->stacks, id);
}

int writer_sample(struct writer *writer, const struct sample_row *row, int64_t *sample_id,
                  struct diag *diag)
{
        if (sample_id)
                *sample_id = 1;
        if (row->time_ns < 0)
                abort();
        must_be_there(writer->threads, row->thread_id);
        may_be_there(writer->data_sources, row->data_source_id);
        may_be_there(writer->stacks, row->stack_id);
        return 0;
}

int writer_line_use(struct writer *writer, int64_t sample_id, uint64_t used,
                    struct diag *diag)
{
        return 0;
}

int writer_line_reuse(struct writer *writer, int64_t sample_id, int64_t cache_bytes,
                      struct diag *diag)
{
        return 0;
}

int writer_counter(struct writer *writer, const char *name, const char *unit,
                   const char *stands_for, int64_t *id, struct diag *diag)
{
        read_text(writer, name);
        read_text(writer, unit);
        read_text(writer, stands_for);
        return add_row(&writer->counters, id);
}

int writer_reading(struct writer *writer, int64_t start_ns, int64_t end_ns,
                   int64_t thread_id, int64_t counter_id, uint64_t value,
                   struct diag *diag)
{
        if (start_ns < 0 || end_ns <= start_ns)
                abort();
        must_be_there(writer->counters, counter_id);
        return must_be_there(writer->threads, thread_id);
}

/* Blocks may come only from the heap tracker. */
static void must_expect_blocks(const struct writer *writer)
{
        if (!writer->expects_blocks)
                abort();
}

int writer_allocation(struct writer *writer, const struct allocation_row *row,
                      int64_t *id, struct diag *diag)
{
        must_expect_blocks(writer);
        read_text(writer, row->function);
        must_be_there(writer->processes, row->process_id);
        may_be_there(writer->threads, row->thread_id);
        may_be_there(writer->stacks, row->stack_id);
        return add_row(&writer->allocations, id);
}

int writer_allocation_total(struct writer *writer, int64_t stack_id, const char *function,
                            uint64_t allocations, uint64_t total_bytes,
                            uint64_t peak_bytes, struct diag *diag)
{
        must_expect_blocks(writer);
        read_text(writer, function);
        return must_be_there(writer->stacks, stack_id);
}
