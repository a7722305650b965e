/* SPDX-License-Identifier: MIT */
/* A vector of Rust's has its memory from a part that is compiled once for all types of
 * items and keeps the address as that of bytes; the vector's own parameter says what lies
 * there. The part gets a type of its own in each vector. */
#include "item_pointer.h"

#include <stdlib.h>
#include <string.h>

#include "die_type_name.h"

/* How deep the pointer lies, and among how many members: a few of each. */
enum { DEPTH_LIMIT = 6, PART_MEMBERS_LIMIT = 8 };

bool item_parameter(struct type_reader *reader, Dwarf_Die *die, Dwarf_Die *parameter)
{
        if (dwarf_child(die, parameter) != 0)
                return false;
        do {
                if (dwarf_tag(parameter) == DW_TAG_template_type_parameter)
                        return true;
        } while (die_spend(reader->dwarf, 1) &&
                 dwarf_siblingof(parameter, parameter) == 0);
        return false;
}

static bool is_byte_pointer(struct type_reader *reader, uint32_t type)
{
        uint32_t pointee = type_pointee(reader, type);

        return pointee != TYPE_NONE && reader->types->items[pointee].size_bytes == 1 &&
               reader->types->items[pointee].kind == TYPE_INTEGER;
}

/* TYPE with POINTER in the place of pointers to bytes; TYPE itself where it has none. */
static uint32_t with_pointer(struct type_reader *reader, uint32_t type, uint32_t pointer,
                             int depth)
{
        struct member members[PART_MEMBERS_LIMIT];
        bool changed = false;

        if (type == TYPE_NONE || depth == DEPTH_LIMIT)
                return type;
        struct type part = reader->types->items[type];

        if (part.kind == TYPE_POINTER)
                return is_byte_pointer(reader, type) ? pointer : type;
        if (part.kind != TYPE_STRUCT || part.member_count > PART_MEMBERS_LIMIT)
                return type;
        for (uint32_t i = 0; i < part.member_count; i++) {
                members[i] = reader->types->members[part.first_member + i];
                uint32_t own = with_pointer(reader, members[i].type, pointer, depth + 1);

                changed |= own != members[i].type;
                members[i].type = own;
        }
        return changed ? type_put(reader, &part, members) : type;
}

void item_pointers_settle(struct type_reader *reader, Dwarf_Die *die,
                          struct die_members *members)
{
        const char *name = type_own_name(reader, die);
        Dwarf_Die parameter;

        if (reader->language != DW_LANG_Rust || !name ||
            strncmp(name, "RawVec<", strlen("RawVec<")) != 0 ||
            !item_parameter(reader, die, &parameter))
                return;
        uint32_t pointer = type_pointer_to(reader, &parameter);

        for (size_t i = 0; i < members->count && pointer != TYPE_NONE; i++)
                members->items[i].type =
                    with_pointer(reader, members->items[i].type, pointer, 0);
}
