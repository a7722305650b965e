/* SPDX-License-Identifier: MIT */
/* Fortran's common blocks: memory that each program unit may divide into different
 * variables (DWARF 5, section 4.2). */
#ifndef MEMLAG_SYMBOLIZE_COMMON_BLOCK_H
#define MEMLAG_SYMBOLIZE_COMMON_BLOCK_H

#include "data.h"

struct common_member {
        bool placed; /* at VADDR; a function that is only inlined does not say it */
        uint64_t vaddr;
        uint32_t name;
        uint32_t type;
};

/* As one program unit has it. */
struct common_block {
        uint32_t name;
        size_t first_member; /* in common_blocks.members */
        size_t member_count;
};

/* Zero-initialised: none. */
struct common_blocks {
        struct common_block *items;
        size_t count;
        size_t capacity;
        struct common_member *members;
        size_t member_count;
        size_t member_capacity;
};

/* The members added next belong to a block NAME. 0 or -ENOMEM, as all. */
int common_blocks_begin(struct common_blocks *blocks, uint32_t name);
int common_blocks_add(struct common_blocks *blocks, const struct common_member *member);
/* Answers the PLACES, COUNT in order of address, that lie in BLOCKS. The type of a block
 * is a structure with its variables as members. It stays unresolved where program units
 * divide the block in different ways. */
int common_blocks_answer(const struct common_blocks *blocks, struct types *types,
                         struct string_pool *names, struct data_place **places,
                         size_t count);
void common_blocks_free(struct common_blocks *blocks);

#endif
