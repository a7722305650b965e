/* SPDX-License-Identifier: MIT */
/* The type and field that each sample accessed, from its instruction's pointer and its
 * address's object; or the reason why they are unknown. */
#ifndef MEMLAG_SYMBOLIZE_SAMPLE_TYPE_H
#define MEMLAG_SYMBOLIZE_SAMPLE_TYPE_H

#include "block_type.h"
#include "object.h"
#include "type_field.h"
#include "type_source.h"

struct sample_type {
        enum untyped reason;
        uint32_t type;      /* canonical, no array; TYPE_NONE unless TYPED */
        struct field field; /* name 0: the type has no fields */
        /* The access's size and offset in the type; 0: not known. */
        uint32_t access_bytes;
        uint64_t offset_bytes;
        struct type_source source;
};

struct sample_types {
        const struct sweep *sweep;
        const struct types *types;
        struct string_pool *names;
        struct block_type *blocks;    /* of raw's stacks */
        struct sample_type *pointees; /* of the sweep's places, once found */
        bool *elsewhere;              /* by place: an address contradicts the index */
        uint32_t character;           /* the program's type char; TYPE_NONE: none */
};

/* The places of SWEEP have been named. 0 or -ENOMEM; on error SAMPLE_TYPES is still to be
 * freed. */
int sample_types_open(struct sample_types *sample_types, const struct sweep *sweep,
                      const struct types *types, struct string_pool *names);
/* Learns from a sample at LOCATION the content of its block, if it is a load, and whether
 * its address refutes its instruction's index. Must get all samples before the first
 * sample_types_find(). */
void sample_types_learn(struct sample_types *sample_types,
                        const struct sample_location *location, bool is_load);
/* The string pool notes when memory is short. */
struct sample_type sample_types_find(struct sample_types *sample_types,
                                     const struct raw_sample *sample,
                                     const struct sample_location *location);
void sample_types_free(struct sample_types *sample_types);

#endif
