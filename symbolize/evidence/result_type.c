/* SPDX-License-Identifier: MIT */
/* The first sample of a type adds rows for its fields, in the order of the layout.
 * Overlapping fields that share a name get a row after them. */
#include "result_type.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "type_path.h"

struct adder {
        struct type_rows *rows;
        uint32_t type;
};

static bool same_field(const void *context, const void *key, uint32_t position)
{
        const struct type_rows *rows = context;
        const struct field_row *a = key, *b = &rows->fields.items[position];

        return a->type == b->type && a->field.name == b->field.name &&
               a->field.offset_bytes == b->field.offset_bytes;
}

static int put_field(struct type_rows *rows, const struct field_row *row, uint32_t *at)
{
        return HASH_PUT(&rows->fields, hash_number(row->type, row->field.name),
                        same_field, rows, row, at);
}

static int add_field(void *context, const struct field *field)
{
        struct adder *adder = context;
        struct field_row row = {adder->type, *field};
        uint32_t at;

        return put_field(adder->rows, &row, &at);
}

static int put_type(struct type_rows *rows, uint32_t type, const struct types *types,
                    struct string_pool *names)
{
        struct adder adder = {rows, (uint32_t)rows->types.count};

        if (rows->type_at[type])
                return 0;
        if (PUSH(&rows->types, type) < 0)
                return -ENOMEM;
        rows->type_at[type] = (uint32_t)rows->types.count;
        return type_fields(types, names, type, add_field, &adder);
}

int type_rows_open(struct type_rows *rows, const struct types *types)
{
        *rows = (struct type_rows){.type_at =
                                       calloc(types->count + 1, sizeof(*rows->type_at))};
        return rows->type_at ? 0 : -ENOMEM;
}

int type_rows_add(struct type_rows *rows, const struct sample_type *sample,
                  const struct types *types, struct string_pool *names, uint32_t *field)
{
        *field = 0;
        if (sample->reason != TYPED)
                return 0;
        int error = put_type(rows, sample->type, types, names);

        if (error)
                return error;
        struct field_row row = {rows->type_at[sample->type] - 1, sample->field};

        error = put_field(rows, &row, field);
        ++*field;
        return error;
}

void type_rows_free(struct type_rows *rows)
{
        free(rows->types.items);
        HASH_FREE(&rows->fields);
        free(rows->type_at);
        *rows = (struct type_rows){0};
}

/* ---- fields behind the first ---- */

/* The search for fields behind the first runs once for each offset in a type and size. */

enum { BYTES_LIMIT = 64 }; /* larger reads, such as fxrstor, load no fields */

struct wide_read {
        uint32_t type;
        uint32_t bytes;
        uint64_t offset_bytes; /* of the load in the type */
        uint32_t field;        /* the row that its samples count for */
        size_t first;          /* of the other rows */
        uint32_t count;
        uint64_t samples;
};

static bool same_read(const void *context, const void *key, uint32_t position)
{
        const struct wide_reads *wide = context;
        const struct wide_read *a = key, *b = &wide->items[position];

        return a->type == b->type && a->bytes == b->bytes &&
               a->offset_bytes == b->offset_bytes && a->field == b->field;
}

static uint32_t hash_of(const struct wide_read *read)
{
        return hash_number(
            hash_number(hash_number(read->type, read->bytes), read->offset_bytes),
            read->field);
}

/* The end of the field, or array item, that contains the load's first byte. */
static uint64_t end_of_first(const struct sample_type *sample)
{
        const struct field *field = &sample->field;
        bool first_item = sample->offset_bytes - field->offset_bytes < field->size_bytes;

        return (first_item ? field->offset_bytes : sample->offset_bytes) +
               field->size_bytes;
}

static int add_other(struct wide_reads *wide, struct wide_read *read, uint32_t field)
{
        if (field == read->field)
                return 0;
        for (uint32_t i = 0; i < read->count; i++)
                if (wide->fields.items[read->first + i] == field)
                        return 0;
        if (PUSH(&wide->fields, field) < 0)
                return -ENOMEM;
        read->count++;
        return 0;
}

/* Finds the fields between the end of SAMPLE's field and the end of the load. Behind the
 * end of the type lies the next item of the same type. */
static int find_fields(struct wide_reads *wide, struct wide_read *read,
                       struct type_rows *rows, const struct sample_type *sample,
                       const struct types *types, struct string_pool *names)
{
        static const struct type_access any;
        uint64_t bytes = types->items[read->type].size_bytes;
        uint64_t end = read->offset_bytes + read->bytes;
        int error = 0;

        for (uint64_t at = end_of_first(sample), next; at < end && !error; at = next) {
                uint64_t inside = type_open_ended(types, read->type) ? at : at % bytes;
                struct sample_type other = *sample;
                uint32_t row;

                next = at + 1;
                if (type_field(types, names, read->type, inside, &any, &other.field) !=
                    FIELD_FOUND)
                        continue;
                if (inside >= other.field.offset_bytes &&
                    inside - other.field.offset_bytes < other.field.size_bytes)
                        next = at + other.field.size_bytes -
                               (inside - other.field.offset_bytes);
                error = type_rows_add(rows, &other, types, names, &row);
                if (!error)
                        error = add_other(wide, read, row - 1);
        }
        return error;
}

int wide_reads_add(struct wide_reads *wide, struct type_rows *rows,
                   const struct sample_type *sample, uint32_t field,
                   const struct types *types, struct string_pool *names)
{
        if (sample->reason != TYPED || !sample->field.name ||
            sample->access_bytes > BYTES_LIMIT ||
            sample->offset_bytes + sample->access_bytes <= end_of_first(sample) ||
            types->items[sample->type].size_bytes == 0)
                return 0;
        struct wide_read read = {.type = sample->type,
                                 .bytes = sample->access_bytes,
                                 .offset_bytes = sample->offset_bytes,
                                 .field = field - 1,
                                 .first = wide->fields.count};
        uint32_t hash = hash_of(&read);
        uint32_t found = hash_index_find(&wide->index, hash, same_read, wide, &read);

        if (found != HASH_INDEX_NONE) {
                wide->items[found].samples++;
                return 0;
        }
        int error = find_fields(wide, &read, rows, sample, types, names);

        read.samples = 1;
        return error ? error : HASH_PUSH(wide, hash, read);
}

void wide_reads_count(const struct wide_reads *wide, uint64_t *samples)
{
        for (size_t i = 0; i < wide->count; i++)
                for (uint32_t j = 0; j < wide->items[i].count; j++)
                        samples[wide->fields.items[wide->items[i].first + j]] +=
                            wide->items[i].samples;
}

void wide_reads_free(struct wide_reads *wide)
{
        HASH_FREE(wide);
        free(wide->fields.items);
        *wide = (struct wide_reads){0};
}
