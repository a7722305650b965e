/* SPDX-License-Identifier: MIT */
/* Which fields loads read beside the one that their sample counts for: a load of 16 bytes
 * may be of two, and counts for the first. */
#ifndef MEMLAG_SYMBOLIZE_WIDE_READ_H
#define MEMLAG_SYMBOLIZE_WIDE_READ_H

#include "result_type.h"

struct wide_read;

struct wide_reads {
        struct wide_read *items; /* each place, and how much is read there, once */
        size_t count;
        size_t capacity;
        struct hash_index index;
        uint32_t *fields; /* rows of the fields, all of one item together */
        size_t field_count;
        size_t field_capacity;
};

/* Takes note of SAMPLE, which counts for FIELD, a row of ROWS plus 1; the other fields
 * get their rows. 0 or -ENOMEM. */
int wide_reads_add(struct wide_reads *wide, struct type_rows *rows,
                   const struct sample_type *sample, uint32_t field,
                   const struct types *types, struct string_pool *names);
/* Adds to each row's place in SAMPLES how many samples read it beside the one that they
 * count for. */
void wide_reads_count(const struct wide_reads *wide, uint64_t *samples);
void wide_reads_free(struct wide_reads *wide);

#endif
