/* SPDX-License-Identifier: MIT */
/* Data objects: what users call the memory that a sample touched. */
#ifndef MEMLAG_SYMBOLIZE_OBJECT_H
#define MEMLAG_SYMBOLIZE_OBJECT_H

#include "hash_index.h"
#include "site.h"

enum object_kind {
        OBJECT_GLOBAL,
        OBJECT_HEAP,
        OBJECT_STACK,
        OBJECT_TLS,
        OBJECT_MMAP,
        OBJECT_CODE,
        OBJECT_UNKNOWN
};

struct object {
        enum object_kind kind;
        uint32_t name;
        uint32_t module;  /* RAW_NONE: none */
        struct site site; /* of heap blocks and mapped regions */
        uint64_t start;   /* a variable's address: tells those of one name apart */
        bool has_size;
        uint64_t size_bytes;
        uint64_t allocations; /* 0: no blocks */
        uint64_t total_bytes; /* of all blocks, one after the other */
};

struct objects {
        struct object *items;
        size_t count;
        size_t capacity;
        struct hash_index index;
        uint32_t *sample_objects; /* of raw's samples; RAW_NONE: no data address */
        uint64_t *sample_offsets; /* in the object's block */
};

/* Makes the objects of all samples of SWEEP, whose places and variables have been
 * named; ALLOCATORS
 * as in struct symbolize_options. 0 or -ENOMEM; on error OBJECTS is still to be freed. */
int objects_make(struct objects *objects, const struct sweep *sweep,
                 const struct code_frames *frames, const struct types *types,
                 const char *const *allocators, struct string_pool *names);
void objects_free(struct objects *objects);

#endif
