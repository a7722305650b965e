/* SPDX-License-Identifier: MIT */
/* The expression that DWARF finds a virtual base by is the one of the Itanium C++ ABI,
 * whose offsets of virtual bases stand before the table's functions (section 2.5.2). */
#include "virtual_base.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "inner_structure.h"

enum { DEPTH_LIMIT = 48 }; /* of classes in classes */

/* The object's first word is where its table is, and OFFSET before that stands how far
 * the base is from the object. */
bool virtual_base_read(struct dwarf_file *dwarf, Dwarf_Die *die,
                       uint64_t *table_offset_bytes)
{
        static const uint8_t expected[] = {DW_OP_dup,   DW_OP_deref, 0,
                                           DW_OP_minus, DW_OP_deref, DW_OP_plus};
        Dwarf_Attribute attribute;
        Dwarf_Op *ops;
        size_t count;

        if (!dwarf_hasattr(die, DW_AT_virtuality) ||
            !die_attribute(dwarf, die, DW_AT_data_member_location, &attribute) ||
            dwarf_getlocation(&attribute, &ops, &count) != 0 || count != sizeof(expected))
                return false;
        for (size_t i = 0; i < count; i++)
                if (expected[i] != 0 && ops[i].atom != expected[i])
                        return false;
        bool literal = ops[2].atom >= DW_OP_lit0 && ops[2].atom <= DW_OP_lit31;

        *table_offset_bytes =
            literal ? (uint64_t)ops[2].atom - DW_OP_lit0 : ops[2].number;
        return literal || ops[2].atom == DW_OP_constu || ops[2].atom == DW_OP_const1u ||
               ops[2].atom == DW_OP_const2u;
}

int virtual_bases_add(struct virtual_bases *bases, const Dwarf_Die *base,
                      uint64_t table_offset_bytes)
{
        return bases->count >= HASH_INDEX_NONE
                   ? -ENOMEM
                   : PUSH(bases,
                          (struct virtual_base){TYPE_NONE, table_offset_bytes, *base});
}

static uint32_t hash_of(uint32_t type, uint64_t table_offset_bytes)
{
        return hash_number(type, table_offset_bytes);
}

int virtual_bases_number(struct virtual_bases *bases, size_t first, uint32_t type)
{
        for (size_t i = first; i < bases->count && type != TYPE_NONE; i++) {
                struct virtual_base *base = &bases->items[i];

                if (base->type != TYPE_NONE)
                        continue;
                base->type = type;
                if (hash_index_add(&bases->index, hash_of(type, base->table_offset_bytes),
                                   (uint32_t)i) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static bool same(const void *context, const void *key, uint32_t position)
{
        const struct virtual_bases *bases = context;
        const struct virtual_base *a = key, *b = &bases->items[position];

        return a->type == b->type && a->table_offset_bytes == b->table_offset_bytes;
}

/* NULL: TYPE has none there. */
static const struct virtual_base *find(const struct virtual_bases *bases, uint32_t type,
                                       uint64_t table_offset_bytes)
{
        const struct virtual_base key = {.type = type,
                                         .table_offset_bytes = table_offset_bytes};
        uint32_t found = hash_index_find(&bases->index, hash_of(type, table_offset_bytes),
                                         same, bases, &key);

        return found == HASH_INDEX_NONE ? NULL : &bases->items[found];
}

/* A class shares the table of its first base, and so does a class that begins with it. */
bool virtual_bases_in(const struct virtual_bases *bases, const struct types *types,
                      uint32_t type, uint64_t offset_bytes, uint64_t table_offset_bytes,
                      Dwarf_Die *base)
{
        for (int depth = 0;
             depth < DEPTH_LIMIT && bases->count > 0 && type < types->count; depth++) {
                const struct virtual_base *found =
                    offset_bytes == 0 ? find(bases, type, table_offset_bytes) : NULL;

                if (found) {
                        *base = found->base;
                        return true;
                }
                if (!inner_structure_enter(types, &type, &offset_bytes))
                        return false;
        }
        return false;
}

void virtual_bases_free(struct virtual_bases *bases)
{
        free(bases->items);
        hash_index_free(&bases->index);
}
