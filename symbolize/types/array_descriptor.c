/* SPDX-License-Identifier: MIT */
/* The debug information gives the location of the items' address. It also gives the
 * bounds, as expressions over words of the descriptor, but it does not name all the
 * words. The compiler's run-time library names them. Its layout is trusted if the
 * expressions use its words. */
#include "array_descriptor.h"

#include <dwarf.h>
#include <errno.h>

#include <string.h>

enum {
        RANK_LIMIT = 15, /* Fortran 2018, section 8.5.8 */
        /* struct gfc_array_descriptor of libgfortran.h */
        GNU_SPAN = 32,
        GNU_DIMENSIONS = 40,
        GNU_DIMENSION_BYTES = 24
};

static bool expression(struct dwarf_file *dwarf, Dwarf_Die *die, unsigned name,
                       Dwarf_Op **ops, size_t *count)
{
        Dwarf_Attribute attribute;

        return die_attribute(dwarf, die, name, &attribute) &&
               (dwarf_whatform(&attribute) == DW_FORM_exprloc ||
                dwarf_whatform(&attribute) == DW_FORM_block1) &&
               dwarf_getlocation(&attribute, ops, count) == 0;
}

/* Whether OPS read the word OFFSET bytes into the object. */
static bool reads_word(const Dwarf_Op *ops, size_t count, uint64_t *offset)
{
        bool added = count == 3 && ops[1].atom == DW_OP_plus_uconst;

        *offset = added ? ops[1].number : 0;
        return (added || count == 2) && ops[0].atom == DW_OP_push_object_address &&
               ops[count - 1].atom == DW_OP_deref;
}

/* Whether the expression NAME of DIE uses only words that dimension INDEX has in the GNU
 * layout; counts them. */
static bool gnu_words(struct dwarf_file *dwarf, Dwarf_Die *die, unsigned name,
                      unsigned index, unsigned *words)
{
        uint64_t start = GNU_DIMENSIONS + (uint64_t)index * GNU_DIMENSION_BYTES;
        Dwarf_Op *ops;
        size_t count;

        if (!expression(dwarf, die, name, &ops, &count))
                return true;
        for (size_t i = 0; i + 1 < count; i++) {
                if (ops[i].atom != DW_OP_push_object_address)
                        continue;
                if (ops[i + 1].atom != DW_OP_plus_uconst)
                        return false;
                uint64_t word = ops[i + 1].number;

                if (word != GNU_SPAN &&
                    (word < start || word >= start + GNU_DIMENSION_BYTES || word % 8))
                        return false;
                ++*words;
        }
        return true;
}

static void read_dimensions(struct dwarf_file *dwarf, Dwarf_Die *die,
                            struct array_descriptor *descriptor)
{
        static const unsigned parts[] = {DW_AT_lower_bound, DW_AT_upper_bound,
                                         DW_AT_byte_stride};
        unsigned words = 0;
        bool gnu = descriptor->data_offset_bytes == 0;
        Dwarf_Die child;

        if (dwarf_child(die, &child) != 0)
                return;
        do {
                if (dwarf_tag(&child) != DW_TAG_subrange_type)
                        continue;
                for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
                        gnu &=
                            gnu_words(dwarf, &child, parts[i], descriptor->rank, &words);
                descriptor->rank++;
        } while (descriptor->rank < RANK_LIMIT && die_spend(dwarf, 1) &&
                 dwarf_siblingof(&child, &child) == 0);
        descriptor->gnu = gnu && words > 0;
}

bool array_descriptor_read(struct dwarf_file *dwarf, Dwarf_Die *die,
                           struct array_descriptor *descriptor)
{
        Dwarf_Op *ops;
        size_t count;

        *descriptor = (struct array_descriptor){0};
        if (!expression(dwarf, die, DW_AT_data_location, &ops, &count) ||
            !reads_word(ops, count, &descriptor->data_offset_bytes))
                return false;
        read_dimensions(dwarf, die, descriptor);
        return true;
}

/* ---- the structure ---- */

struct output {
        struct types *types;
        struct string_pool *names;
        bool failed;
};

struct part {
        const char *name;
        uint32_t type;
        uint64_t offset_bytes;
};

static uint32_t put(struct output *output, const struct type *type,
                    const struct member *members)
{
        uint32_t id = TYPE_NONE;

        output->failed |= types_put(output->types, type, members, &id) < 0;
        return id;
}

static uint32_t put_integer(struct output *output, uint64_t bytes)
{
        return put(output,
                   &(struct type){.kind = TYPE_INTEGER,
                                  .name = string_pool_format(
                                      output->names, "integer(kind=%u)", (unsigned)bytes),
                                  .size_bytes = bytes},
                   NULL);
}

static uint32_t put_struct(struct output *output, uint32_t name, uint64_t bytes,
                           const struct part *parts, uint32_t count)
{
        struct member members[8] = {0};

        for (uint32_t i = 0; i < count; i++) {
                members[i].name = string_pool_put(output->names, parts[i].name);
                members[i].type = parts[i].type;
                members[i].offset_bytes = parts[i].offset_bytes;
        }
        return put(output,
                   &(struct type){.kind = TYPE_STRUCT,
                                  .name = name,
                                  .size_bytes = bytes,
                                  .member_count = count},
                   members);
}

static uint32_t put_gnu(struct output *output, uint32_t name, unsigned rank,
                        uint32_t pointer)
{
        uint32_t word = put_integer(output, 8), half = put_integer(output, 4);
        uint32_t byte = put_integer(output, 1), pair = put_integer(output, 2);
        const struct part kinds[] = {{"elem_len", word, 0},
                                     {"version", half, 8},
                                     {"rank", byte, 12},
                                     {"type", byte, 13},
                                     {"attribute", pair, 14}};
        const struct part bounds[] = {
            {"_stride", word, 0}, {"lower_bound", word, 8}, {"_ubound", word, 16}};
        struct type dimensions = {
            .kind = TYPE_ARRAY,
            .name = string_pool_put(output->names, "descriptor_dimension[]"),
            .element =
                put_struct(output, string_pool_put(output->names, "descriptor_dimension"),
                           GNU_DIMENSION_BYTES, bounds, 3),
            .items = rank,
            .size_bytes = (uint64_t)rank * GNU_DIMENSION_BYTES};
        const struct part parts[] = {
            {"base_addr", pointer, 0},
            {"offset", word, 8},
            {"dtype",
             put_struct(output, string_pool_put(output->names, "dtype_type"), 16, kinds,
                        5),
             16},
            {"span", word, GNU_SPAN},
            {"dim", put(output, &dimensions, NULL), GNU_DIMENSIONS}};

        return put_struct(output, name, GNU_DIMENSIONS + dimensions.size_bytes, parts, 5);
}

/* In Fortran's notation: "item(:,:)". */
static uint32_t descriptor_name(struct output *output, uint32_t item, unsigned rank)
{
        char shape[2 * RANK_LIMIT + 2] = "(";

        for (unsigned i = 0; i < rank; i++)
                strcat(shape, i ? ",:" : ":");
        strcat(shape, ")");
        return string_pool_format(output->names, "%s%s",
                                  string_pool_text(output->names, item) ?: "", shape);
}

int array_descriptor_put(const struct array_descriptor *descriptor, struct types *types,
                         struct string_pool *names, uint32_t item, uint32_t pointer,
                         uint32_t *id)
{
        struct output output = {types, names, false};
        const struct part address = {"base_addr", pointer, descriptor->data_offset_bytes};
        uint32_t name = descriptor_name(&output, item, descriptor->rank);

        *id = descriptor->gnu
                  ? put_gnu(&output, name, descriptor->rank, pointer)
                  : put_struct(&output, name, descriptor->data_offset_bytes + 8, &address,
                               1);
        return output.failed ? -ENOMEM : 0;
}
