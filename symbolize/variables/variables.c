/* SPDX-License-Identifier: MIT */
/* The variables of a function, sorted by registers and addresses for queries. */
#include "variables.h"

#include <stdlib.h>

#include "append.h"

int variables_read(struct variables *variables, struct type_reader *reader,
                   Dwarf_Die *function)
{
        int error = variable_entries_read(variables, reader, function);

        for (int by = 0; by < VARIABLES_KINDS; by++)
                for (int reg = 0; reg < VARIABLES_REGISTERS && !error; reg++)
                        if (variables->maps[by][reg].count > 0)
                                error = range_map_build(&variables->maps[by][reg]);
        SORT(variables->calls.items, variables->calls.count, number_order);
        return error;
}

void variables_free(struct variables *variables)
{
        for (int by = 0; by < VARIABLES_KINDS; by++)
                for (int reg = 0; reg < VARIABLES_REGISTERS; reg++)
                        range_map_free(&variables->maps[by][reg]);
        free(variables->values);
        free(variables->frames.items);
        free(variables->unplaced.items);
        free(variables->calls.items);
        *variables = (struct variables){0};
}

bool variables_called_same(const struct frame_variable *a, const struct frame_variable *b)
{
        return a->name == b->name && a->inlined == b->inlined && a->type == b->type &&
               a->offset == b->offset;
}

const struct register_variable *variables_at(const struct variables *variables,
                                             enum variables_by by, uint8_t reg,
                                             uint64_t vaddr)
{
        const struct range *range = reg < VARIABLES_REGISTERS
                                        ? range_map_find(&variables->maps[by][reg], vaddr)
                                        : NULL;

        return range ? &variables->values[range->value] : NULL;
}

const struct register_variable *variables_in_register(const struct variables *variables,
                                                      uint8_t reg, uint64_t vaddr)
{
        return variables_at(variables, VARIABLES_IN, reg, vaddr)
                   ?: variables_at(variables, VARIABLES_POINTED, reg, vaddr);
}

static bool is_until(const void *item, const void *key)
{
        const struct register_variable *at = item;
        const uint64_t *number_and_vaddr = key;

        return at->number < number_and_vaddr[0] ||
               (at->number == number_and_vaddr[0] && at->low <= number_and_vaddr[1]);
}

/* Variables are sorted by their numbers. The ranges of a FROM_SET variable are its
 * block's ranges, sorted. */
bool variables_in_block(const struct variables *variables,
                        const struct register_variable *variable, uint64_t vaddr)
{
        const uint64_t key[] = {variable->number, vaddr};
        size_t until = array_count_before(variables->values, variables->value_count,
                                          sizeof(*variables->values), is_until, key);

        return until > 0 && variables->values[until - 1].number == variable->number &&
               vaddr < variables->values[until - 1].high;
}

const struct call_result *variables_call(const struct variables *variables,
                                         uint64_t vaddr)
{
        return NUMBER_FIND(variables->calls.items, variables->calls.count, vaddr);
}
