/* SPDX-License-Identifier: MIT */
/* Of packed nodes only those have rows that blocks of objects came through: for all
 * others their few addresses tell where they are. */
#include "stack_rows.h"

#include <stdlib.h>

#include "bulk_insert.h"

struct stack_rows {
        const struct object_sources *from;
        const struct objects *objects;
        struct db *db;
        struct diag *diag;
        struct bulk_insert insert; /* into the table in work */
        bool *contexts;            /* of raw's stacks: blocks of an object came through */
};

static void begin(struct stack_rows *rows, const char *table, const char *columns)
{
        bulk_insert_open(&rows->insert, table, columns, rows->db, rows->diag);
}

static void end_row(struct stack_rows *rows)
{
        bulk_insert_row(&rows->insert);
}

static void put_int(struct stack_rows *rows, int column, uint64_t value)
{
        bulk_insert_int(&rows->insert, column, (int64_t)value);
}

static int write_stack_locations(struct stack_rows *rows)
{
        const struct raw *raw = rows->from->sweep->raw;

        begin(rows, "node_location", "stack_id, location_id");

        for (size_t i = 0; i < raw->stack_count; i++) {
                if (rows->from->sweep->stack_places[i] == RAW_NONE ||
                    raw->stacks[i].packed)
                        continue;
                put_int(rows, 0, (uint64_t)raw->stack_ids[i]);
                put_int(rows, 1, rows->from->sweep->stack_places[i] + UINT64_C(1));
                end_row(rows);
        }
        return bulk_insert_close(&rows->insert, 0);
}

/* Of packed nodes: few addresses tell where they all are. */
static int write_packed_locations(struct stack_rows *rows)
{
        const struct raw *raw = rows->from->sweep->raw;

        begin(rows, "packed_location", "process_id, address, location_id");

        for (size_t i = 0; i < raw->code_count; i++) {
                put_int(rows, 0, (uint64_t)raw->process_ids[raw->codes[i].process]);
                put_int(rows, 1, raw->codes[i].address);
                put_int(rows, 2, rows->from->sweep->code_places[i] + UINT64_C(1));
                end_row(rows);
        }
        return bulk_insert_close(&rows->insert, 0);
}

/* Marks the packed nodes that blocks of objects came through. */
static int find_contexts(struct stack_rows *rows)
{
        const struct raw *raw = rows->from->sweep->raw;
        const struct objects *objects = rows->objects;

        rows->contexts = calloc(raw->stack_count + 1, sizeof(*rows->contexts));
        if (!rows->contexts)
                return diag_no_memory(rows->diag);
        for (uint32_t i = (uint32_t)raw->stack_count; i-- > 0;) {
                uint32_t parent = raw->stacks[i].parent;

                if (objects_path(objects, i, false)->used ||
                    objects_path(objects, i, true)->used)
                        rows->contexts[i] = true;
                if (rows->contexts[i] && parent != RAW_NONE)
                        rows->contexts[parent] = true;
        }
        return 0;
}

static int write_contexts(struct stack_rows *rows)
{
        const struct raw *raw = rows->from->sweep->raw;
        const uint32_t *places = rows->from->sweep->stack_places;

        begin(rows, "object_context", "stack_id, parent_id, location_id");

        for (size_t i = 0; i < raw->stack_count; i++) {
                uint32_t parent = raw->stacks[i].parent;

                if (!raw->stacks[i].packed || !rows->contexts[i])
                        continue;
                put_int(rows, 0, (uint64_t)raw->stack_ids[i]);
                if (parent != RAW_NONE)
                        put_int(rows, 1, (uint64_t)raw->stack_ids[parent]);
                if (places[i] != RAW_NONE)
                        put_int(rows, 2, places[i] + UINT64_C(1));
                end_row(rows);
        }
        return bulk_insert_close(&rows->insert, 0);
}

/* What the sites at a stack did; where there is none, there are no allocations. */
static struct raw_total totals_of(const struct raw *raw, size_t *next, uint32_t stack,
                                  bool region)
{
        struct raw_total sum = {0};

        while (*next < raw->total_count && raw->totals[*next].stack == stack &&
               raw->totals[*next].region == region) {
                const struct raw_total *total = &raw->totals[(*next)++];

                sum.allocations += total->allocations;
                sum.total_bytes += total->total_bytes;
                sum.peak_bytes += total->peak_bytes;
        }
        return sum;
}

static void put_object_stack(struct stack_rows *rows, uint32_t stack, bool region,
                             const struct raw_total *totals)
{
        const struct object_path *path = objects_path(rows->objects, stack, region);

        if (!path->used)
                return;
        put_int(rows, 0, path->object + UINT64_C(1));
        put_int(rows, 1, (uint64_t)rows->from->sweep->raw->stack_ids[stack]);
        put_int(rows, 2, path->samples);
        if (totals->allocations) {
                put_int(rows, 3, totals->allocations);
                put_int(rows, 4, totals->total_bytes);
                put_int(rows, 5, totals->peak_bytes);
        }
        end_row(rows);
}

/* Blocks and regions are never one object. */
static int write_object_stacks(struct stack_rows *rows)
{
        const struct raw *raw = rows->from->sweep->raw;
        size_t next = 0;

        begin(rows, "object_stack",
              "object_id, stack_id, samples, allocations, total_bytes, peak_bytes");

        for (uint32_t i = 0; i < raw->stack_count; i++) {
                struct raw_total blocks = totals_of(raw, &next, i, false);
                struct raw_total regions = totals_of(raw, &next, i, true);

                put_object_stack(rows, i, false, &blocks);
                put_object_stack(rows, i, true, &regions);
        }
        return bulk_insert_close(&rows->insert, 0);
}

int stack_rows_write(const struct object_sources *from, const struct objects *objects,
                     struct db *db, struct diag *diag)
{
        struct stack_rows rows = {
            .from = from, .objects = objects, .db = db, .diag = diag};
        int error = find_contexts(&rows);

        if (!error)
                error = write_stack_locations(&rows);
        if (!error)
                error = write_packed_locations(&rows);
        if (!error)
                error = write_contexts(&rows);
        if (!error)
                error = write_object_stacks(&rows);
        free(rows.contexts);
        return error;
}
