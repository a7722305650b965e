/* SPDX-License-Identifier: MIT */
/* Fortran arrays that are allocated, pointers, or parameters of any shape. The variable
 * is a descriptor: it contains the address and number of the items, not the items. */
#ifndef MEMLAG_SYMBOLIZE_ARRAY_DESCRIPTOR_H
#define MEMLAG_SYMBOLIZE_ARRAY_DESCRIPTOR_H

#include "die.h"
#include "type_table.h"

struct array_descriptor {
        uint64_t data_offset_bytes; /* of the address of the items */
        unsigned rank;              /* dimensions */
        bool gnu;                   /* libgfortran's layout (from gcc 9 on) */
};

/* Whether the array type DIE has a descriptor, which contains the address of the items
 * (DW_AT_data_location; DWARF 5, section 5.18.1). */
bool array_descriptor_read(struct dwarf_file *dwarf, Dwarf_Die *die,
                           struct array_descriptor *descriptor);

/* Adds the structure of DESCRIPTOR. Its items have the name ITEM, its pointers to them
 * the type POINTER. 0 or -ENOMEM. */
int array_descriptor_put(const struct array_descriptor *descriptor, struct types *types,
                         struct string_pool *names, uint32_t item, uint32_t pointer,
                         uint32_t *id);

#endif
