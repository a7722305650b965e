/* SPDX-License-Identifier: MIT */
/* A variable's location, if DWARF gives it in one of the simple forms that compilers
 * write. Other expressions are not evaluated. */
#ifndef MEMLAG_SYMBOLIZE_LOCATION_H
#define MEMLAG_SYMBOLIZE_LOCATION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"

enum location_kind {
        LOCATION_REGISTER, /* the value is in the register */
        LOCATION_VALUE,    /* the value is the register's plus the offset */
        LOCATION_MEMORY,   /* it is in memory at the register plus the offset */
        LOCATION_FRAME,    /* in memory at the frame base plus the offset */
        LOCATION_BEHIND,   /* its address is at the frame base plus the offset */
        LOCATION_ADDRESS,  /* in memory at the file's virtual address OFFSET */
        LOCATION_THREAD    /* OFFSET bytes into the module's thread-local memory */
};

struct location {
        enum location_kind kind;
        uint8_t reg; /* DWARF number, below 16 */
        int64_t offset;
        uint64_t part_offset_bytes; /* offset of this piece in the variable */
};

/* Calls ADD for each simple part of the location that the COUNT operations OPS of
 * ATTRIBUTE describe. It stops when ADD returns non-zero, and returns that value. */
typedef int location_add(void *context, const struct location *location);
int location_parts(Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
                   location_add *add, void *context);

/* A variable's fixed location: its virtual address in FILE, or its offset in the
 * thread-local memory plus ELF_THREAD_LOCAL. False if it has no single location. False
 * too if the linker discarded the variable, which leaves it the address 0. */
bool location_fixed(Dwarf_Attribute *attribute, const struct elf_file *file,
                    uint64_t *vaddr);

#endif
