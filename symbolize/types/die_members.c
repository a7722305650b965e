/* SPDX-License-Identifier: MIT */
/* Only members at constant offsets count. For others only their existence is noted. */
#include "die_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "base_names.h"
#include "die_type_name.h"
#include "type_access.h"

/* Limits for the pointer: its nesting, the number of members around it, and all parts. A
 * vector has about ten. Another file may need any number. */
enum { DEPTH_LIMIT = 6, VECTOR_MEMBERS = 8, PARTS_LIMIT = 64 };

/* The new type of a part. A repeated part is made once. */
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

/* The first type parameter of DIE, a structure or class, in *PARAMETER. */
static bool item_parameter(struct type_reader *reader, Dwarf_Die *die,
                           Dwarf_Die *parameter)
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

static uint32_t with_pointer(struct item_vector *vector, uint32_t type, int depth);

/* A copy of PART, number TYPE, with the new pointer in its members. */
static uint32_t settle_members(struct item_vector *vector, const struct type *part,
                               uint32_t type, int depth)
{
        struct type_reader *reader = vector->reader;
        struct member members[VECTOR_MEMBERS];
        bool changed = false;

        for (uint32_t i = 0; i < part->member_count; i++) {
                members[i] = reader->types->members[part->first_member + i];
                uint32_t own = with_pointer(vector, members[i].type, depth + 1);

                changed |= own != members[i].type;
                members[i].type = own;
        }
        if (vector->refused || !changed)
                return type;
        /* A type takes as much memory as many entries of the file. */
        vector->refused = !die_spend(reader->dwarf, sizeof(*part) + part->member_count *
                                                                        sizeof(*members));
        return vector->refused ? type : type_put(reader, part, members);
}

/* TYPE with the vector's pointer in place of pointers to bytes, if it has any. */
static uint32_t with_pointer(struct item_vector *vector, uint32_t type, int depth)
{
        struct type_reader *reader = vector->reader;

        if (type == TYPE_NONE || depth == DEPTH_LIMIT || vector->refused)
                return type;
        struct type part = reader->types->items[type];

        if (part.kind == TYPE_POINTER)
                return type_is_byte(reader->types, type_pointee(reader, type))
                           ? vector->pointer
                           : type;
        if (part.kind != TYPE_STRUCT || part.member_count > VECTOR_MEMBERS)
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

/* If DIE, of MEMBERS, is such a vector, its pointers to bytes become pointers to items.
 * READER notes errors. */
static void item_pointers_settle(struct type_reader *reader, Dwarf_Die *die,
                                 struct die_members *members)
{
        const char *name = type_own_name(reader, die);
        uint32_t types[VECTOR_MEMBERS];
        Dwarf_Die parameter;

        if (reader->language != DW_LANG_Rust || !name ||
            strncmp(name, "RawVec<", strlen("RawVec<")) != 0 ||
            members->count > VECTOR_MEMBERS || !item_parameter(reader, die, &parameter))
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

enum { MEMBERS_LIMIT = 65536 };

/* A constant, or the expression DW_OP_plus_uconst. */
static bool member_offset(struct type_reader *reader, Dwarf_Die *die, uint64_t *offset)
{
        Dwarf_Attribute attribute;
        Dwarf_Op *operations;
        size_t count;

        if (die_number(reader->dwarf, die, DW_AT_data_member_location, offset))
                return true;
        if (!die_attribute(reader->dwarf, die, DW_AT_data_member_location, &attribute) ||
            dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 ||
            operations[0].atom != DW_OP_plus_uconst)
                return false;
        *offset = operations[0].number;
        return true;
}

static bool bit_field(struct type_reader *reader, Dwarf_Die *die, struct member *member)
{
        uint64_t size, offset, storage = 0;

        if (!die_number(reader->dwarf, die, DW_AT_bit_size, &size) || size > 128)
                return false;
        member->bit_size = (uint32_t)size;
        if (die_number(reader->dwarf, die, DW_AT_data_bit_offset, &offset)) {
                member->offset_bytes = offset / 8;
                member->bit_offset = (uint32_t)(offset % 8);
                return true;
        }
        if (!die_number(reader->dwarf, die, DW_AT_bit_offset, &offset)) /* DWARF 3 */
                return false;
        if (!die_number(reader->dwarf, die, DW_AT_byte_size, &storage) &&
            member->type < reader->types->count)
                storage = reader->types->items[member->type].size_bytes;
        /* clang lets bit-fields of packed structures continue behind their storage: the
         * offset is then negative. */
        if (storage > 16 || (int64_t)offset < -128 || (int64_t)offset > 128)
                return false;
        int64_t low = (int64_t)(storage * 8) - (int64_t)offset - (int64_t)size;

        if (low < 0)
                return false;
        member->bit_offset = (uint32_t)low;
        return true;
}

static int add_member(struct type_reader *reader, Dwarf_Die *die, bool in_union,
                      struct die_members *members)
{
        bool base = dwarf_tag(die) == DW_TAG_inheritance;
        struct member member = {.type = TYPE_NONE, .base = base};
        Dwarf_Die type;

        if (dwarf_hasattr(die, DW_AT_declaration) || dwarf_hasattr(die, DW_AT_external))
                return 0; /* static: elsewhere in memory */
        members->lost |= die_lost(reader->dwarf, die, DW_AT_type) ||
                         die_lost(reader->dwarf, die, DW_AT_name);
        bool placed = member_offset(reader, die, &member.offset_bytes);

        if (die_reference(reader->dwarf, die, DW_AT_type, &type))
                member.type = type_of_die(reader, &type);
        if (!bit_field(reader, die, &member) && !placed && !in_union) {
                members->left_out = true;
                return 0;
        }
        if (!base)
                member.name = string_pool_put(reader->names, type_own_name(reader, die));
        else if (member.type < reader->types->count)
                member.name = reader->types->items[member.type].name;
        return PUSH(members, member);
}

/* Adds the variants of a type such as Rust's enums. PART is the variant part of a record
 * of BYTES. The discriminant lies outside of the variants. If one variant is the default
 * for all other numbers, the discriminant is one of its members. */
static int add_variants(struct type_reader *reader, Dwarf_Die *part, uint64_t bytes,
                        struct die_members *members)
{
        struct die_members variants = {0};
        Dwarf_Die child, inner, discriminant = {0};
        bool has_place = true;
        int error = 0;

        if (dwarf_child(part, &child) != 0)
                return 0;
        do {
                if (dwarf_tag(&child) == DW_TAG_member)
                        discriminant = child;
                if (dwarf_tag(&child) != DW_TAG_variant)
                        continue;
                has_place &= dwarf_hasattr(&child, DW_AT_discr_value) ||
                             dwarf_hasattr(&child, DW_AT_discr_list);
                if (dwarf_child(&child, &inner) != 0)
                        continue;
                do {
                        if (dwarf_tag(&inner) == DW_TAG_member)
                                error = add_member(reader, &inner, true, &variants);
                } while (!error && variants.count < MEMBERS_LIMIT &&
                         die_spend(reader->dwarf, 1) &&
                         dwarf_siblingof(&inner, &inner) == 0);
        } while (!error && variants.count < MEMBERS_LIMIT &&
                 die_spend(reader->dwarf, 1) && dwarf_siblingof(&child, &child) == 0);
        size_t count = variants.count;

        if (!error && discriminant.addr && has_place)
                error = add_member(reader, &discriminant, true, &variants);
        if (variants.count > count && variants.items[count].name == 0)
                variants.items[count].name =
                    string_pool_put(reader->names, "(discriminant)");
        struct type type = {.kind = TYPE_UNION,
                            .size_bytes = bytes,
                            .partial = true,
                            .member_count = (uint32_t)variants.count};

        if (!error)
                error = PUSH(members, (struct member){.type = type_put(reader, &type,
                                                                       variants.items)});
        members->lost |= variants.lost;
        free(variants.items);
        return error;
}

static bool has_bases(const struct die_members *members)
{
        for (size_t i = 0; i < members->count; i++)
                if (members->items[i].base)
                        return true;
        return false;
}

static void read_all(struct type_reader *reader, Dwarf_Die *die, bool in_union,
                     struct die_members *members)
{
        uint64_t bytes = 0;
        Dwarf_Die child;

        if (dwarf_child(die, &child) != 0)
                return;
        die_number(reader->dwarf, die, DW_AT_byte_size, &bytes);
        for (int i = 0; i < MEMBERS_LIMIT && die_spend(reader->dwarf, 1); i++) {
                int tag = dwarf_tag(&child);

                members->left_out |= tag == DW_TAG_variant_part;
                if (tag == DW_TAG_variant_part &&
                    add_variants(reader, &child, bytes, members) < 0)
                        reader->error = -ENOMEM;
                if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
                    add_member(reader, &child, in_union, members) < 0)
                        reader->error = -ENOMEM;
                if (dwarf_siblingof(&child, &child) != 0)
                        return;
        }
        members->left_out = true;
}

/* Whether NAME is a buffer of the C++ library declared as bytes, for one item of the
 * template's type. The elements of maps and sets lie in such buffers. */
static bool is_item_buffer(const char *name)
{
        static const char *const beginnings[] = {"__aligned_membuf<",
                                                 "__aligned_buffer<"};

        for (size_t i = 0; name && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
                if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
                        return true;
        return false;
}

/* Replaces the buffer's bytes by the item; false if that is not possible. */
static bool read_item(struct type_reader *reader, Dwarf_Die *die,
                      struct die_members *members)
{
        struct member member = {.type = TYPE_NONE};
        Dwarf_Die item;

        if (!is_item_buffer(type_own_name(reader, die)) ||
            !item_parameter(reader, die, &item))
                return false;
        member.type = type_of_variable(reader, &item);
        if (member.type == TYPE_NONE)
                return false;
        if (PUSH(members, member) < 0)
                reader->error = -ENOMEM;
        return !reader->error;
}

void die_members_read(struct type_reader *reader, Dwarf_Die *die, bool in_union,
                      struct die_members *members)
{
        if (!read_item(reader, die, members))
                read_all(reader, die, in_union, members);
        item_pointers_settle(reader, die, members);
        if (has_bases(members) &&
            base_names_settle(reader->types, members->items, members->count) < 0)
                reader->error = -ENOMEM;
}
