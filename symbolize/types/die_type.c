/* SPDX-License-Identifier: MIT */
/* Reads a type with its members. The target of a pointer is read only on demand:
 * otherwise one list would bring in the whole program. */
#include "die_type.h"

#include <errno.h>
#include <string.h>

#include "append.h"
#include "array_descriptor.h"
#include "die_members.h"
#include "die_type_name.h"

enum { DEPTH_LIMIT = 48, DIMENSIONS_LIMIT = 16 };

void type_reader_open(struct type_reader *reader, struct dwarf_file *dwarf,
                      struct types *types, struct string_pool *names)
{
        *reader = (struct type_reader){.dwarf = dwarf,
                                       .types = types,
                                       .names = names,
                                       .first_type = (uint32_t)types->count};
}

void type_reader_close(struct type_reader *reader)
{
        HASH_FREE(&reader->entries);
        free(reader->pointees.items);
        HASH_FREE(&reader->scopes);
        definitions_free(&reader->definitions);
        *reader = (struct type_reader){0};
}

/* ---- languages ---- */

/* Sets the language of DIE's unit. dwz's units have none: the last one stays. */
static void read_language(struct type_reader *reader, Dwarf_Die *die)
{
        if (reader->unit != die->cu) {
                Dwarf_Die unit;

                reader->unit = die->cu;
                if (!dwarf_diecu(die, &unit, NULL, NULL) ||
                    !die_number(reader->dwarf, &unit, DW_AT_language,
                                &reader->unit_language))
                        reader->unit_language = 0;
        }
        if (reader->unit_language)
                reader->language = reader->unit_language;
}

/* ---- one type ---- */

uint32_t type_put(struct type_reader *reader, const struct type *type,
                  const struct member *members)
{
        uint32_t id = TYPE_NONE;

        if (types_put(reader->types, type, members, &id) < 0)
                reader->error = -ENOMEM;
        return reader->error ? TYPE_NONE : id;
}

/* Finds a type that this unit only declares in the unit that defines it. */
static uint32_t put_declared(struct type_reader *reader, Dwarf_Die *die, uint32_t name)
{
        const char *prefix = type_name_prefix(reader, die);
        const char *own = type_own_name(reader, die);
        size_t length = strlen(prefix);
        bool scoped = length > 0 && prefix[length - 1] == ':';
        uint32_t wanted =
            own ? string_pool_format(reader->names, "%s%s", scoped ? prefix : "", own)
                : 0;
        Dwarf_Die definition;

        if (own && definition_find(&reader->definitions, reader->dwarf, reader->names,
                                   wanted, dwarf_tag(die) == DW_TAG_union_type,
                                   &definition, &reader->error))
                return type_of_die(reader, &definition);
        return type_put(reader, &(struct type){.kind = TYPE_OPAQUE, .name = name}, NULL);
}

static uint32_t put_record(struct type_reader *reader, Dwarf_Die *die, uint32_t name)
{
        bool in_union = dwarf_tag(die) == DW_TAG_union_type;
        struct die_members members = {0};
        uint64_t bytes = 0;

        if (dwarf_hasattr(die, DW_AT_declaration))
                return put_declared(reader, die, name);
        if (!die_number(reader->dwarf, die, DW_AT_byte_size, &bytes))
                return type_put(reader, &(struct type){.kind = TYPE_OPAQUE, .name = name},
                                NULL);
        die_members_read(reader, die, in_union, &members);
        struct type type = {.kind = in_union ? TYPE_UNION : TYPE_STRUCT,
                            .name = name,
                            .size_bytes = bytes,
                            .partial = members.left_out,
                            .member_count = (uint32_t)members.count};

        if (members.lost || die_lost(reader->dwarf, die, DW_AT_name))
                type = (struct type){.kind = TYPE_OPAQUE, .name = name};
        uint32_t id = type_put(reader, &type, members.items);

        free(members.items);
        return id;
}

static void keep_pointee(struct type_reader *reader, uint32_t type,
                         const Dwarf_Die *pointee)
{
        size_t at = type - reader->first_type;

        while (reader->pointees.count <= at) {
                if (PUSH(&reader->pointees, (struct type_pointee){0}) < 0) {
                        reader->error = -ENOMEM;
                        return;
                }
        }
        reader->pointees.items[at] = (struct type_pointee){*pointee, reader->language};
}

static uint32_t put_pointer_to(struct type_reader *reader, Dwarf_Die *placed)
{
        struct type type = {.kind = TYPE_POINTER, .size_bytes = 8};
        type.name = string_pool_format(
            reader->names, "%s *",
            string_pool_text(reader->names, type_spelled_name(reader, *placed))
                ?: "void");
        uint32_t id = type_put(reader, &type, NULL);

        if (id != TYPE_NONE)
                keep_pointee(reader, id, placed);
        return reader->error ? TYPE_NONE : id;
}

/* Calls MAKE for the type of DIE, a variable, in the language of DIE's unit. */
static uint32_t of_variable(struct type_reader *reader, Dwarf_Die *die,
                            uint32_t (*make)(struct type_reader *reader, Dwarf_Die *type))
{
        uint64_t outer = reader->language;
        uint32_t id = TYPE_NONE;
        Dwarf_Die type;

        read_language(reader, die);
        if (die_inherited_reference(reader->dwarf, die, DW_AT_type, &type))
                id = make(reader, &type);
        reader->language = outer;
        return id;
}

uint32_t type_pointer_to(struct type_reader *reader, Dwarf_Die *die)
{
        return of_variable(reader, die, put_pointer_to);
}

/* Without an attribute, the language gives the first item's number: 1 in Fortran. */
static bool lower_bound(struct type_reader *reader, Dwarf_Die *die, uint64_t *lower)
{
        Dwarf_Sword usual;

        if (dwarf_hasattr(die, DW_AT_lower_bound))
                return die_number(reader->dwarf, die, DW_AT_lower_bound, lower);
        if (dwarf_default_lower_bound((int)reader->language, &usual) != 0)
                return false;
        *lower = (uint64_t)usual;
        return true;
}

/* The number of items of a dimension; 0 if it has no known end. */
static uint64_t items_of(struct type_reader *reader, Dwarf_Die *die)
{
        uint64_t number = 0, lower;

        if (die_number(reader->dwarf, die, DW_AT_count, &number))
                return number;
        if (!die_number(reader->dwarf, die, DW_AT_upper_bound, &number) ||
            !lower_bound(reader, die, &lower))
                return 0;
        /* An empty one's upper bound is the lower bound minus 1. */
        return (int64_t)(number - lower) < 0 ? 0 : number - lower + 1;
}

/* The number of items of each dimension, outermost first; 0: without an end. */
static size_t dimensions(struct type_reader *reader, Dwarf_Die *die, uint64_t *items)
{
        Dwarf_Die child;
        size_t count = 0;

        if (dwarf_child(die, &child) != 0)
                return 0;
        do {
                if (dwarf_tag(&child) == DW_TAG_subrange_type)
                        items[count++] = items_of(reader, &child);
        } while (count < DIMENSIONS_LIMIT && die_spend(reader->dwarf, 1) &&
                 dwarf_siblingof(&child, &child) == 0);
        return count;
}

/* The descriptor of an array whose items are elsewhere. */
static uint32_t put_descriptor(struct type_reader *reader, Dwarf_Die *die,
                               const struct array_descriptor *descriptor)
{
        Dwarf_Die element;
        uint32_t id = TYPE_NONE;

        if (!die_reference(reader->dwarf, die, DW_AT_type, &element))
                return TYPE_NONE;
        uint32_t pointer = put_pointer_to(reader, &element);
        uint32_t name = type_spelled_name(reader, element);

        if (pointer != TYPE_NONE &&
            array_descriptor_put(descriptor, reader->types, reader->names, name, pointer,
                                 &id) < 0)
                reader->error = -ENOMEM;
        return reader->error ? TYPE_NONE : id;
}

static uint32_t put_array(struct type_reader *reader, Dwarf_Die *die, uint32_t name)
{
        uint64_t items[DIMENSIONS_LIMIT];
        struct array_descriptor descriptor;
        size_t count = dimensions(reader, die, items);

        if (array_descriptor_read(reader->dwarf, die, &descriptor))
                return put_descriptor(reader, die, &descriptor);
        uint32_t element = type_of_variable(reader, die);

        if (element == TYPE_NONE)
                return TYPE_NONE;
        if (count == 0)
                items[count++] = 0;
        while (count-- > 0) {
                struct type type = {.kind = TYPE_ARRAY,
                                    .name = name,
                                    .element = element,
                                    .items = items[count],
                                    .is_vector = dwarf_hasattr(die, DW_AT_GNU_vector)};

                if (__builtin_mul_overflow(reader->types->items[element].size_bytes,
                                           type.items, &type.size_bytes))
                        return TYPE_NONE;
                element = type_put(reader, &type, NULL);
                if (element == TYPE_NONE)
                        return TYPE_NONE;
        }
        return element;
}

static uint32_t put_number(struct type_reader *reader, Dwarf_Die *die, uint32_t name)
{
        struct type type = {.kind = TYPE_INTEGER, .name = name};
        uint64_t encoding;

        if (die_number(reader->dwarf, die, DW_AT_encoding, &encoding) &&
            (encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
             encoding == DW_ATE_imaginary_float || encoding == DW_ATE_decimal_float))
                type.kind = TYPE_FLOAT;
        type.is_complex = type.kind == TYPE_FLOAT && encoding == DW_ATE_complex_float;
        if (!die_number(reader->dwarf, die, DW_AT_byte_size, &type.size_bytes))
                type.kind = TYPE_OPAQUE;
        return type_put(reader, &type, NULL);
}

static uint32_t put_pointer(struct type_reader *reader, Dwarf_Die *die, uint32_t name)
{
        struct type type = {.kind = TYPE_POINTER, .name = name, .size_bytes = 8};

        die_number(reader->dwarf, die, DW_AT_byte_size, &type.size_bytes);
        return type_put(reader, &type, NULL);
}

static uint32_t read_type(struct type_reader *reader, Dwarf_Die *die, uint32_t name)
{
        switch (dwarf_tag(die)) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
                return put_record(reader, die, name);
        case DW_TAG_array_type:
                return put_array(reader, die, name);
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
                return put_pointer(reader, die, name);
        case DW_TAG_base_type:
        case DW_TAG_enumeration_type:
        case DW_TAG_ptr_to_member_type:
                return put_number(reader, die, name);
        default:
                return type_put(reader, &(struct type){.kind = TYPE_OPAQUE, .name = name},
                                NULL);
        }
}

/* Whether this kind of type can have a tag; otherwise a typedef is the only name. */
static bool has_tag(Dwarf_Die *die)
{
        switch (dwarf_tag(die)) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
                return true;
        default:
                return false;
        }
}

static uint32_t enter_type(struct type_reader *reader, Dwarf_Die *die, const char *alias)
{
        uint32_t entry = (uint32_t)reader->entries.count;

        /* While it is being read it has no type: this ends a type that contains
         * itself. */
        if (HASH_PUSH(&reader->entries, hash_number(0, (uintptr_t)die->addr),
                      (struct type_entry){die->addr, TYPE_NONE}) < 0) {
                reader->error = -ENOMEM;
                return TYPE_NONE;
        }
        uint32_t name = alias && has_tag(die) && !type_own_name(reader, die)
                            ? string_pool_put(reader->names, alias)
                            : type_spelled_name(reader, *die);
        uint32_t type = read_type(reader, die, name);

        reader->entries.items[entry].type = type;
        Dwarf_Die pointee;

        if (type_kind(reader->types, type) == TYPE_POINTER &&
            die_reference(reader->dwarf, die, DW_AT_type, &pointee))
                keep_pointee(reader, type, &pointee);
        return type;
}

uint32_t type_of_die(struct type_reader *reader, Dwarf_Die *die)
{
        Dwarf_Die stripped = *die;
        const char *alias = NULL;

        if (reader->error || !type_strip(reader, &stripped, &alias))
                return TYPE_NONE;
        uint32_t found = HASH_NUMBER(&reader->entries, (uintptr_t)stripped.addr);

        if (found != HASH_INDEX_NONE)
                return reader->entries.items[found].type;
        if (reader->depth == DEPTH_LIMIT || !die_spend(reader->dwarf, 1))
                return TYPE_NONE;
        uint64_t outer = reader->language;

        read_language(reader, &stripped);
        reader->depth++;
        uint32_t type = enter_type(reader, &stripped, alias);

        reader->depth--;
        reader->language = outer;
        return type;
}

uint32_t type_of_variable(struct type_reader *reader, Dwarf_Die *die)
{
        return of_variable(reader, die, type_of_die);
}

uint32_t type_pointee(struct type_reader *reader, uint32_t type)
{
        if (type == TYPE_NONE || type < reader->first_type ||
            type - reader->first_type >= reader->pointees.count)
                return TYPE_NONE;
        struct type_pointee pointee = reader->pointees.items[type - reader->first_type];

        if (!pointee.die.addr)
                return TYPE_NONE;
        uint64_t outer = reader->language;

        reader->language = pointee.language;
        uint32_t id = type_of_die(reader, &pointee.die);

        reader->language = outer;
        return id;
}
