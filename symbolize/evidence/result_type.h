/* SPDX-License-Identifier: MIT */
/* The rows of types and fields: each type that samples met with all of its fields. */
#ifndef MEMLAG_SYMBOLIZE_RESULT_TYPE_H
#define MEMLAG_SYMBOLIZE_RESULT_TYPE_H

#include "sample_type.h"

struct type_row {
        uint32_t type;
};

struct field_row {
        uint32_t type; /* index of its type's row */
        struct field field;
};

struct type_rows {
        struct type_row *types; /* ids are indexes + 1 */
        size_t type_count;
        size_t type_capacity;
        struct field_row *fields;
        size_t field_count;
        size_t field_capacity;
        struct hash_index field_index;
        uint32_t *type_at; /* of each type: its row + 1 */
};

/* No rows of TYPES, which are all there. 0 or -ENOMEM. */
int type_rows_open(struct type_rows *rows, const struct types *types);
/* *FIELD becomes the row of what SAMPLE met, + 1; 0: of no type. 0 or -ENOMEM. */
int type_rows_add(struct type_rows *rows, const struct sample_type *sample,
                  const struct types *types, struct string_pool *names, uint32_t *field);
void type_rows_free(struct type_rows *rows);

#endif
