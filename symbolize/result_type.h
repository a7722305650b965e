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
        uint32_t *type_at;       /* of each type: its row + 1 */
        uint32_t *sample_fields; /* of each sample: its field's row + 1; 0: none */
};

/* Makes the rows of SAMPLE_TYPES, COUNT samples, in their order. 0 or -ENOMEM; on error
 * ROWS is still to be freed. */
int type_rows_make(struct type_rows *rows, const struct sample_types *sample_types,
                   size_t count, const struct types *types, struct string_pool *names);
void type_rows_free(struct type_rows *rows);

#endif
