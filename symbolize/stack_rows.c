/* SPDX-License-Identifier: MIT */
/* A packed node gets a separate row only if objects' blocks were allocated through it.
 * The other packed nodes share one row for each address. */
#include "stack_rows.h"

#include <stdlib.h>

#include "bulk_insert.h"

struct stack_rows {
        const struct sweep *sweep;
        const struct raw *raw;
        const struct objects *objects;
        bool *contexts;    /* by stack: an object's blocks were allocated through it */
        size_t next_total; /* of raw's, while the rows of object_stack are made */
};

static bool put_node(void *context, struct bulk_insert *insert, size_t i)
{
        const struct stack_rows *rows = context;

        if (rows->sweep->stack_places[i] == RAW_NONE || rows->raw->stacks[i].packed)
                return false;
        bulk_insert_int(insert, 0, rows->raw->stack_ids[i]);
        bulk_insert_int(insert, 1, rows->sweep->stack_places[i] + INT64_C(1));
        return true;
}

/* All packed nodes share the rows of few addresses. */
static bool put_packed(void *context, struct bulk_insert *insert, size_t i)
{
        const struct stack_rows *rows = context;
        const struct raw_code *code = &rows->raw->codes[i];

        bulk_insert_int(insert, 0, rows->raw->process_ids[code->process]);
        bulk_insert_int(insert, 1, (int64_t)code->address);
        bulk_insert_int(insert, 2, rows->sweep->code_places[i] + INT64_C(1));
        return true;
}

/* Marks the packed nodes through which objects' blocks were allocated. */
static void find_contexts(struct stack_rows *rows)
{
        for (uint32_t i = (uint32_t)rows->raw->stack_count; i-- > 0;) {
                uint32_t parent = rows->raw->stacks[i].parent;

                if (objects_path(rows->objects, i, false)->used ||
                    objects_path(rows->objects, i, true)->used)
                        rows->contexts[i] = true;
                if (rows->contexts[i] && parent != RAW_NONE)
                        rows->contexts[parent] = true;
        }
}

static bool put_context(void *context, struct bulk_insert *insert, size_t i)
{
        const struct stack_rows *rows = context;
        uint32_t parent = rows->raw->stacks[i].parent;

        if (!rows->raw->stacks[i].packed || !rows->contexts[i])
                return false;
        bulk_insert_int(insert, 0, rows->raw->stack_ids[i]);
        if (parent != RAW_NONE)
                bulk_insert_int(insert, 1, rows->raw->stack_ids[parent]);
        if (rows->sweep->stack_places[i] != RAW_NONE)
                bulk_insert_int(insert, 2, rows->sweep->stack_places[i] + INT64_C(1));
        return true;
}

/* The sum of the allocation sites at a stack; zero if there are none. */
static struct raw_total totals_of(struct stack_rows *rows, uint32_t stack, bool region)
{
        const struct raw *raw = rows->raw;
        struct raw_total sum = {0};

        while (rows->next_total < raw->total_count &&
               raw->totals[rows->next_total].stack == stack &&
               raw->totals[rows->next_total].region == region) {
                const struct raw_total *total = &raw->totals[rows->next_total++];

                sum.allocations += total->allocations;
                sum.total_bytes += total->total_bytes;
                sum.peak_bytes += total->peak_bytes;
        }
        return sum;
}

static void put_object_stack(struct stack_rows *rows, struct bulk_insert *insert,
                             uint32_t stack, bool region)
{
        const struct raw_total totals = totals_of(rows, stack, region);
        const struct object_path *path = objects_path(rows->objects, stack, region);

        if (!path->used)
                return;
        bulk_insert_int(insert, 0, path->object + INT64_C(1));
        bulk_insert_int(insert, 1, rows->raw->stack_ids[stack]);
        bulk_insert_int(insert, 2, (int64_t)path->samples);
        if (totals.allocations) {
                bulk_insert_int(insert, 3, (int64_t)totals.allocations);
                bulk_insert_int(insert, 4, (int64_t)totals.total_bytes);
                bulk_insert_int(insert, 5, (int64_t)totals.peak_bytes);
        }
        bulk_insert_row(insert);
}

/* An object has either blocks or regions, never both. */
static bool put_object_stacks(void *context, struct bulk_insert *insert, size_t i)
{
        put_object_stack(context, insert, (uint32_t)i, false);
        put_object_stack(context, insert, (uint32_t)i, true);
        return false;
}

int stack_rows_write(const struct object_sources *from, const struct objects *objects,
                     struct db *db, struct diag *diag)
{
        const struct raw *raw = from->sweep->raw;
        struct stack_rows rows = {.sweep = from->sweep,
                                  .raw = raw,
                                  .objects = objects,
                                  .contexts = calloc(raw->stack_count + 1, sizeof(bool))};
        const struct bulk_table tables[] = {
            {"node_location", "stack_id, location_id", put_node, raw->stack_count},
            {"packed_location", "process_id, address, location_id", put_packed,
             raw->code_count},
            {"object_context", "stack_id, parent_id, location_id", put_context,
             raw->stack_count},
            {"object_stack",
             "object_id, stack_id, samples, allocations, total_bytes, peak_bytes",
             put_object_stacks, raw->stack_count}};
        int error = rows.contexts ? 0 : diag_no_memory(diag);

        if (!error) {
                find_contexts(&rows);
                error = bulk_insert_tables(tables, sizeof(tables) / sizeof(*tables),
                                           &rows, db, diag);
        }
        free(rows.contexts);
        return error;
}
