/* SPDX-License-Identifier: MIT */
/* Rust's vectors have their memory in a part that is compiled once for all items and
 * keeps the address as one of bytes. The vector's parameter tells the items' type. Each
 * vector's part becomes a type of its own kind. */
#include "item_pointer.h"

#include <stdlib.h>
#include <string.h>

#include "die_type_name.h"

/* How deep the pointer lies, among how many members, and in how many parts in all: some
 * ten in a vector. Another file may ask for any number. */
enum { DEPTH_LIMIT = 6, MEMBERS_LIMIT = 8, PARTS_LIMIT = 64 };

/* The new type of a part; a part that a vector has several times is made once. */
struct settled_part {
        uint32_t from;
        uint32_t to;
};

struct item_vector {
        struct type_reader *reader;
        uint32_t pointer; /* to its items */
        struct settled_part parts[PARTS_LIMIT];
        size_t part_count;
        bool refused; /* it has too many parts, or they cost too much */
};

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

static uint32_t with_pointer(struct item_vector *vector, uint32_t type, int depth);

/* PART, of number TYPE, with the pointer in its members. */
static uint32_t settle_members(struct item_vector *vector, const struct type *part,
                               uint32_t type, int depth)
{
        struct type_reader *reader = vector->reader;
        struct member members[MEMBERS_LIMIT];
        bool changed = false;

        for (uint32_t i = 0; i < part->member_count; i++) {
                members[i] = reader->types->members[part->first_member + i];
                uint32_t own = with_pointer(vector, members[i].type, depth + 1);

                changed |= own != members[i].type;
                members[i].type = own;
        }
        if (vector->refused || !changed)
                return type;
        /* A type takes as much memory as many entries of the file do. */
        vector->refused = !die_spend(reader->dwarf, sizeof(*part) + part->member_count *
                                                                        sizeof(*members));
        return vector->refused ? type : type_put(reader, part, members);
}

/* TYPE with the vector's pointer in the place of pointers to bytes; TYPE itself where it
 * has none. */
static uint32_t with_pointer(struct item_vector *vector, uint32_t type, int depth)
{
        struct type_reader *reader = vector->reader;

        if (type == TYPE_NONE || depth == DEPTH_LIMIT || vector->refused)
                return type;
        struct type part = reader->types->items[type];

        if (part.kind == TYPE_POINTER)
                return is_byte_pointer(reader, type) ? vector->pointer : type;
        if (part.kind != TYPE_STRUCT || part.member_count > MEMBERS_LIMIT)
                return type;
        for (size_t i = 0; i < vector->part_count; i++)
                if (vector->parts[i].from == type)
                        return vector->parts[i].to;
        uint32_t settled = settle_members(vector, &part, type, depth);

        if (vector->part_count == PARTS_LIMIT ||
            !die_spend(reader->dwarf, 1 + part.member_count))
                vector->refused = true;
        else
                vector->parts[vector->part_count++] =
                    (struct settled_part){type, settled};
        return settled;
}

void item_pointers_settle(struct type_reader *reader, Dwarf_Die *die,
                          struct die_members *members)
{
        const char *name = type_own_name(reader, die);
        uint32_t types[MEMBERS_LIMIT];
        Dwarf_Die parameter;

        if (reader->language != DW_LANG_Rust || !name ||
            strncmp(name, "RawVec<", strlen("RawVec<")) != 0 ||
            members->count > MEMBERS_LIMIT || !item_parameter(reader, die, &parameter))
                return;
        struct item_vector vector = {.reader = reader,
                                     .pointer = type_pointer_to(reader, &parameter)};

        if (vector.pointer == TYPE_NONE)
                return;
        for (size_t i = 0; i < members->count; i++)
                types[i] = with_pointer(&vector, members->items[i].type, 0);
        for (size_t i = 0; i < members->count && !vector.refused; i++)
                members->items[i].type = types[i];
}
