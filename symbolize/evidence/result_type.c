/* SPDX-License-Identifier: MIT */
/* A type's fields get their rows with its first sample, in the order of the layout. A
 * place that several fields share gets a row after them. */
#include "result_type.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "type_list.h"

struct adder {
        struct type_rows *rows;
        uint32_t type;
};

static bool same_field(const void *context, const void *key, uint32_t position)
{
        const struct type_rows *rows = context;
        const struct field_row *a = key, *b = &rows->fields[position];

        return a->type == b->type && a->field.name == b->field.name &&
               a->field.offset_bytes == b->field.offset_bytes;
}

static int put_field(struct type_rows *rows, const struct field_row *row, uint32_t *at)
{
        return HASH_PUT(&rows->field_index, hash_number(row->type, row->field.name),
                        same_field, rows, row, rows->fields, rows->field_count,
                        rows->field_capacity, at);
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
        struct adder adder = {rows, (uint32_t)rows->type_count};

        if (rows->type_at[type])
                return 0;
        if (APPEND(rows->types, rows->type_count, rows->type_capacity,
                   (struct type_row){type}) < 0)
                return -ENOMEM;
        rows->type_at[type] = (uint32_t)rows->type_count;
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
        free(rows->types);
        free(rows->fields);
        hash_index_free(&rows->field_index);
        free(rows->type_at);
        *rows = (struct type_rows){0};
}
