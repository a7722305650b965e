/* SPDX-License-Identifier: MIT */
#include "signature.h"

#include <string.h>

#include "die_walk.h"

enum { NAMES_LIMIT = 32 }; /* of one type, by typedef and the like */

enum shape { SHAPE_NONE, SHAPE_POINTER, SHAPE_NUMBER, SHAPE_FLOAT, SHAPE_OTHER, SHAPES };

static uint64_t with_size(struct dwarf_file *dwarf, Dwarf_Die *type, enum shape shape)
{
        uint64_t bytes = 0;

        die_number(dwarf, type, DW_AT_byte_size, &bytes);
        return bytes * SHAPES + shape;
}

static uint64_t number_shape(struct dwarf_file *dwarf, Dwarf_Die *type)
{
        uint64_t encoding = 0;

        die_number(dwarf, type, DW_AT_encoding, &encoding);
        return with_size(dwarf, type,
                         encoding == DW_ATE_float ? SHAPE_FLOAT : SHAPE_NUMBER);
}

/* The shape and size of what DIE has for its type, in one number; 0: it has none. */
static uint64_t shape_of(struct dwarf_file *dwarf, const Dwarf_Die *die)
{
        Dwarf_Die at, type;

        if (!die_inherited_reference(dwarf, die, DW_AT_type, &at))
                return SHAPE_NONE;
        for (int i = 0; i < NAMES_LIMIT; i++) {
                switch (dwarf_tag(&at)) {
                case DW_TAG_typedef:
                case DW_TAG_const_type:
                case DW_TAG_volatile_type:
                case DW_TAG_restrict_type:
                case DW_TAG_atomic_type:
                        if (!die_reference(dwarf, &at, DW_AT_type, &type))
                                return SHAPE_NONE;
                        at = type;
                        break;
                case DW_TAG_pointer_type:
                case DW_TAG_reference_type:
                case DW_TAG_rvalue_reference_type:
                        return SHAPE_POINTER;
                case DW_TAG_base_type:
                case DW_TAG_enumeration_type:
                        return number_shape(dwarf, &at);
                default:
                        return with_size(dwarf, &at, SHAPE_OTHER);
                }
        }
        return SHAPE_NONE;
}

struct reading {
        struct dwarf_file *dwarf;
        struct signature *signature;
};

static int visit(void *context, struct die_entry *entry, uint32_t parent, uint32_t *value)
{
        const struct reading *reading = context;
        struct signature *signature = reading->signature;

        *value = parent;
        if (entry->tag != DW_TAG_formal_parameter)
                return 0;
        if (signature->count < SIGNATURE_PARAMETERS)
                signature->parameters[signature->count] =
                    shape_of(reading->dwarf, &entry->die);
        signature->count++;
        return 0;
}

struct signature signature_of(struct dwarf_file *dwarf, const Dwarf_Die *function)
{
        struct signature signature = {.result = shape_of(dwarf, function)};
        struct reading reading = {dwarf, &signature};

        if (die_walk(dwarf, function, visit, &reading) < 0)
                signature.count = SIGNATURE_PARAMETERS + 1;
        return signature;
}

bool signature_same(const struct signature *a, const struct signature *b)
{
        return a->result == b->result && a->count == b->count &&
               a->count <= SIGNATURE_PARAMETERS &&
               memcmp(a->parameters, b->parameters,
                      a->count * sizeof(a->parameters[0])) == 0;
}
