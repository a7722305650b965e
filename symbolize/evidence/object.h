/* SPDX-License-Identifier: MIT */
/* Data objects: the user's names of the memory that a sample touched. */
#ifndef MEMLAG_SYMBOLIZE_OBJECT_H
#define MEMLAG_SYMBOLIZE_OBJECT_H

#include "arena.h"
#include "hash_index.h"
#include "site_type.h"

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
        uint32_t module;    /* RAW_NONE: none */
        struct site site;   /* of heap blocks and mapped regions */
        uint64_t start;     /* a variable's address: distinguishes equal names */
        bool whole_stack;   /* its frame is not known */
        bool thread_memory; /* or an unknown thread-local variable */
        bool has_size;
        uint64_t size_bytes;
        uint64_t allocations; /* 0: no blocks */
        uint64_t total_bytes; /* of all blocks of all times */
};

/* Input of the objects. The places and variables of SWEEP have been named; ALLOCATORS
 * as in struct symbolize_options. */
struct object_sources {
        struct sweep *sweep; /* reads the samples again */
        const struct code_frames *frames;
        const struct types *types;
        struct string_pool *names;
        const char *const *allocators;
        bool *allocators_met; /* by allocator: a block's stack contains it */
};

/* The allocations at one stack. */
struct object_path {
        bool used;
        uint32_t object;
        uint64_t samples; /* in its blocks */
};

struct objects {
        struct object_sources from;
        HASHED(struct object);
        struct object_path
            *paths; /* of raw's stacks, with separate ones for blocks and regions */
        struct site *sites; /* of raw's stacks, once found */
        bool *site_found;
        struct place_site *place_sites; /* of the sweep's places */
        size_t place_site_count;
        uint64_t thread_bytes; /* of the thread-local variables of all files */
        struct arenas arenas;
};

/* The object and offset of a sample's data address. */
struct sample_object {
        uint32_t object;       /* RAW_NONE: no data address */
        uint64_t offset_bytes; /* in the object's block */
        bool offset_unknown;   /* behind an index */
};

/* 0 or -ENOMEM; on error OBJECTS is still to be freed. */
int objects_open(struct objects *objects, const struct object_sources *from);

/* Before the first query of a sample's object: separates the blocks of a site with
 * several types. BLOCKS are the block types of raw's stacks. 0 or -ENOMEM. */
int objects_tell_apart(struct objects *objects, const struct block_type *blocks);
/* The object that SAMPLE at LOCATION touched; makes it if it is new. 0 or -ENOMEM. */
int objects_of_sample(struct objects *objects, const struct raw_sample *sample,
                      const struct sample_location *location,
                      struct sample_object *result);
/* The path of blocks, or of mapped regions, that were allocated at STACK. */
struct object_path *objects_path(const struct objects *objects, uint32_t stack,
                                 bool region);
/* After the last sample: counts all blocks of each object. The string pool notes when
 * memory is short. */
void objects_count_blocks(struct objects *objects);
void objects_free(struct objects *objects);

#endif
