/* SPDX-License-Identifier: MIT */
/* The rows of types and fields: each type of a sample with all its fields. */
#ifndef MEMLAG_SYMBOLIZE_RESULT_TYPE_H
#define MEMLAG_SYMBOLIZE_RESULT_TYPE_H

#include "sample_type.h"

struct field_row {
        uint32_t type; /* index of its type's row */
        struct field field;
};

struct type_rows {
        LIST(uint32_t) types; /* ids are indexes + 1 */
        HASHED(struct field_row) fields;
        uint32_t *type_at; /* of each type: its row + 1 */
};

/* Begins without rows. TYPES is complete. 0 or -ENOMEM. */
int type_rows_open(struct type_rows *rows, const struct types *types);
/* *FIELD becomes the row of SAMPLE's field, + 1; 0: it has no type. 0 or -ENOMEM. */
int type_rows_add(struct type_rows *rows, const struct sample_type *sample,
                  const struct types *types, struct string_pool *names, uint32_t *field);
void type_rows_free(struct type_rows *rows);

/* Fields that a load reads besides the field that its sample counts for: a load of 16
 * bytes may read two fields, and counts for the first. */
struct wide_read;

struct wide_reads {
        HASHED(struct wide_read); /* each offset and size once */
        LIST(uint32_t) fields;    /* rows, adjacent for one item */
};

/* Notes SAMPLE, which counts for FIELD, a row of ROWS plus 1. The other fields get their
 * rows. 0 or -ENOMEM. */
int wide_reads_add(struct wide_reads *wide, struct type_rows *rows,
                   const struct sample_type *sample, uint32_t field,
                   const struct types *types, struct string_pool *names);
/* Adds to SAMPLES, by row, the number of samples that read the row's field but count for
 * another. */
void wide_reads_count(const struct wide_reads *wide, uint64_t *samples);
void wide_reads_free(struct wide_reads *wide);

#endif
