/* SPDX-License-Identifier: MIT */
/* The compiler has mostly put the parameters in the registers of the call, without a
 * location. */
#include "byte_call.h"

#include <errno.h>

#include "die_walk.h"

enum { PARAMETERS = 3 };

struct innermost {
        struct dwarf_file *dwarf;
        uint64_t vaddr;
        Dwarf_Die die; /* the function, or an inlined one */
        bool holds;    /* the entry in work */
};

static int look_in_range(void *context, uint64_t low, uint64_t high)
{
        struct innermost *innermost = context;

        innermost->holds = low <= innermost->vaddr && innermost->vaddr < high;
        return innermost->holds;
}

static int visit_code(void *context, struct die_entry *entry, uint32_t parent,
                      uint32_t *value)
{
        struct innermost *innermost = context;

        *value = parent;
        if (entry->tag == DW_TAG_lexical_block)
                return 1;
        if (entry->tag != DW_TAG_inlined_subroutine)
                return 0;
        innermost->holds = false;
        if (die_ranges(innermost->dwarf, &entry->die, look_in_range, innermost) ==
            -ENOMEM)
                return -ENOMEM;
        if (innermost->holds)
                innermost->die = entry->die;
        return innermost->holds;
}

struct parameters {
        struct type_reader *reader;
        uint32_t types[PARAMETERS];
        size_t count;
};

static int visit_parameter(void *context, struct die_entry *entry, uint32_t parent,
                           uint32_t *value)
{
        struct parameters *parameters = context;

        *value = parent;
        if (entry->tag != DW_TAG_formal_parameter)
                return 0;
        if (parameters->count < PARAMETERS)
                parameters->types[parameters->count] =
                    type_of_variable(parameters->reader, &entry->die);
        parameters->count++;
        return 0;
}

/* The target of the pointer TYPE, if it is a byte. */
static uint32_t byte_behind(struct type_reader *reader, uint32_t type)
{
        uint32_t pointee = type == TYPE_NONE ? TYPE_NONE : type_pointee(reader, type);

        return pointee != TYPE_NONE &&
                       reader->types->items[pointee].kind == TYPE_INTEGER &&
                       reader->types->items[pointee].size_bytes == 1
                   ? pointee
                   : TYPE_NONE;
}

uint32_t byte_call_type(struct type_reader *reader, const Dwarf_Die *function,
                        uint64_t vaddr)
{
        struct innermost innermost = {
            .dwarf = reader->dwarf, .vaddr = vaddr, .die = *function};
        struct parameters parameters = {.reader = reader};
        Dwarf_Die origin;

        if (die_walk_code(reader->dwarf, function, visit_code, &innermost) < 0)
                return TYPE_NONE;
        if (!die_reference(reader->dwarf, &innermost.die, DW_AT_abstract_origin, &origin))
                origin = innermost.die;
        if (die_walk(reader->dwarf, &origin, visit_parameter, &parameters) < 0 ||
            parameters.count != PARAMETERS)
                return TYPE_NONE;
        uint32_t first = byte_behind(reader, parameters.types[0]);
        uint32_t second = byte_behind(reader, parameters.types[1]);

        const struct type *types = reader->types->items;

        return first != TYPE_NONE && second != TYPE_NONE &&
                       types[first].canonical == types[second].canonical &&
                       parameters.types[2] != TYPE_NONE &&
                       types[parameters.types[2]].kind == TYPE_INTEGER
                   ? second
                   : TYPE_NONE;
}
