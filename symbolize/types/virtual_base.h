/* SPDX-License-Identifier: MIT */
/* Virtual base classes: where one lies in an object stands in the table of virtual
 * functions that the object's first word points to. */
#ifndef MEMLAG_SYMBOLIZE_VIRTUAL_BASE_H
#define MEMLAG_SYMBOLIZE_VIRTUAL_BASE_H

#include "die.h"
#include "hash_index.h"
#include "type_table.h"

/* How far behind an object of TYPE its base BASE begins stands TABLE_OFFSET_BYTES before
 * the place in the table that the object points to. */
struct virtual_base {
        uint32_t type;
        uint64_t table_offset_bytes;
        Dwarf_Die base;
};

struct virtual_bases {
        struct virtual_base *items;
        size_t count;
        size_t capacity;
        struct hash_index index; /* by type and offset */
};

/* Whether DIE, an inheritance, has a virtual base, at *TABLE_OFFSET_BYTES. */
bool virtual_base_read(struct dwarf_file *dwarf, Dwarf_Die *die,
                       uint64_t *table_offset_bytes);

/* Adds one of a type that has no number yet. 0 or -ENOMEM. */
int virtual_bases_add(struct virtual_bases *bases, const Dwarf_Die *base,
                      uint64_t table_offset_bytes);
/* Gives TYPE to bases from FIRST on without a type. 0 or -ENOMEM. */
int virtual_bases_number(struct virtual_bases *bases, size_t first, uint32_t type);

/* Finds the virtual base of what lies OFFSET_BYTES into TYPE, one of TYPES, whose place
 * stands TABLE_OFFSET_BYTES before its table of virtual functions. False: there is none.
 */
bool virtual_bases_in(const struct virtual_bases *bases, const struct types *types,
                      uint32_t type, uint64_t offset_bytes, uint64_t table_offset_bytes,
                      Dwarf_Die *base);
void virtual_bases_free(struct virtual_bases *bases);

#endif
