/* SPDX-License-Identifier: MIT */
#include "unit_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "die_walk.h"
#include "mangled_name.h"

bool unit_functions_entry(const struct unit_functions *functions, Dwarf_Die *function,
                          Dwarf_Addr *entry)
{
        return die_entry_address(functions->dwarf, function, entry) &&
               elf_file_has_code(functions->file, *entry);
}

static int add(struct unit_functions *functions, Dwarf_Die *die)
{
        struct unit_function function = {.die = *die};
        Dwarf_Attribute attribute;
        uint64_t value;

        if ((die_number(functions->dwarf, die, DW_AT_inline, &value) &&
             value != DW_INL_not_inlined) ||
            die_attribute(functions->dwarf, die, DW_AT_declaration, &attribute))
                return 0;
        function.has_code = unit_functions_entry(functions, die, &function.vaddr);
        function.codeless =
            !function.has_code &&
            !die_attribute(functions->dwarf, die, DW_AT_low_pc, &attribute) &&
            !die_attribute(functions->dwarf, die, DW_AT_ranges, &attribute) &&
            !die_attribute(functions->dwarf, die, DW_AT_abstract_origin, &attribute);
        if (array_reserve(&functions->items, &functions->capacity, functions->count,
                          sizeof(*functions->items)) < 0)
                return -ENOMEM;
        functions->items[functions->count++] = function;
        return 0;
}

static int visit(void *context, struct die_entry *entry, uint32_t parent, uint32_t *value)
{
        (void)parent;
        (void)value;
        if (entry->tag == DW_TAG_subprogram)
                return add(context, &entry->die);
        return entry->tag == DW_TAG_namespace || entry->tag == DW_TAG_module;
}

static bool unit_is_below(const void *item, const void *key)
{
        const struct unit_range *unit = item;

        return (uintptr_t)unit->addr < (uintptr_t)key;
}

/* The first unit that was read at ADDR or behind. */
static size_t first_unit(const struct unit_functions *functions, const void *addr)
{
        return array_count_before(functions->units, functions->unit_count,
                                  sizeof(*functions->units), unit_is_below, addr);
}

int unit_functions_read(struct unit_functions *functions, Dwarf_Die *die,
                        struct unit_range *found)
{
        Dwarf_Die unit;

        *found = (struct unit_range){0};
        if (!dwarf_diecu(die, &unit, NULL, NULL))
                return 0;
        size_t at = first_unit(functions, unit.addr);

        if (at < functions->unit_count && functions->units[at].addr == unit.addr) {
                *found = functions->units[at];
                return 0;
        }
        *found = (struct unit_range){.addr = unit.addr, .first = functions->count};
        if (array_reserve(&functions->units, &functions->unit_capacity,
                          functions->unit_count, sizeof(*functions->units)) < 0 ||
            die_walk(functions->dwarf, &unit, visit, functions) == -ENOMEM)
                return -ENOMEM;
        found->end = functions->count;
        memmove(functions->units + at + 1, functions->units + at,
                (functions->unit_count++ - at) * sizeof(*functions->units));
        functions->units[at] = *found;
        return 0;
}

/* Whether SYMBOL names NAME, a copy or a version. */
static bool is_called(const char *symbol, const char *name)
{
        size_t length = name ? strlen(name) : 0;

        return length > 0 && strncmp(symbol, name, length) == 0 &&
               (symbol[length] == '\0' || symbol[length] == '.' || symbol[length] == '@');
}

static const char *source_name(struct dwarf_file *dwarf, Dwarf_Die *die)
{
        Dwarf_Die at = *die, origin;
        const char *name = die_string(dwarf, &at, DW_AT_name);

        for (int i = 0; !name && i < 4 && die_origin(dwarf, &at, &origin); i++) {
                at = origin;
                name = die_string(dwarf, &at, DW_AT_name);
        }
        return name;
}

bool unit_function_is_called(struct dwarf_file *dwarf, struct unit_function *function,
                             const char *symbol)
{
        if (!function->named) {
                function->linkage = die_linkage_name(dwarf, &function->die);
                function->source = source_name(dwarf, &function->die);
                function->named = true;
        }
        return is_called(symbol, function->linkage) ||
               is_called(symbol, function->source) ||
               (function->linkage && mangled_same_constructor(symbol, function->linkage));
}

void unit_functions_free(struct unit_functions *functions)
{
        free(functions->items);
        free(functions->units);
        *functions = (struct unit_functions){0};
}
