/* SPDX-License-Identifier: MIT */
/* The variables of a function, sorted by registers and addresses for queries. */
#include "variables.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

static int build_maps(struct range_map *maps)
{
        int error = 0;

        for (int i = 0; i < VARIABLES_REGISTERS && error != -ENOMEM; i++)
                if (maps[i].count > 0)
                        error = range_map_build(&maps[i]);
        return error;
}

int variables_read(struct variables *variables, struct type_reader *reader,
                   Dwarf_Die *function)
{
        int error = variable_entries_read(variables, reader, function);
        struct range_map *const maps[] = {variables->registers, variables->beside,
                                          variables->pointed, variables->set};

        for (size_t i = 0; i < sizeof(maps) / sizeof(*maps) && error != -ENOMEM; i++)
                error = build_maps(maps[i]);
        SORT(variables->calls, variables->call_count, number_order);
        return error == -ENOMEM ? error : 0;
}

void variables_free(struct variables *variables)
{
        for (int i = 0; i < VARIABLES_REGISTERS; i++) {
                range_map_free(&variables->registers[i]);
                range_map_free(&variables->beside[i]);
                range_map_free(&variables->pointed[i]);
                range_map_free(&variables->set[i]);
        }
        free(variables->values);
        free(variables->frames);
        free(variables->unplaced);
        free(variables->calls);
        *variables = (struct variables){0};
}

bool variables_called_same(const struct frame_variable *a, const struct frame_variable *b)
{
        return a->name == b->name && a->inlined == b->inlined && a->type == b->type &&
               a->offset == b->offset;
}

static const struct register_variable *variable_at(const struct variables *variables,
                                                   const struct range_map *maps,
                                                   uint8_t reg, uint64_t vaddr)
{
        const struct range *range =
            reg < VARIABLES_REGISTERS ? range_map_find(&maps[reg], vaddr) : NULL;

        return range ? &variables->values[range->value] : NULL;
}

const struct register_variable *variables_in_register(const struct variables *variables,
                                                      uint8_t reg, uint64_t vaddr)
{
        return variable_at(variables, variables->registers, reg, vaddr)
                   ?: variable_at(variables, variables->pointed, reg, vaddr);
}

const struct register_variable *
variables_set_in_register(const struct variables *variables, uint8_t reg, uint64_t vaddr)
{
        return variable_at(variables, variables->set, reg, vaddr);
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

const struct register_variable *
variables_beside_register(const struct variables *variables, uint8_t reg, uint64_t vaddr)
{
        return variable_at(variables, variables->beside, reg, vaddr);
}

static const struct call_result *call_at(const struct variables *variables,
                                         uint64_t vaddr)
{
        return NUMBER_FIND(variables->calls, variables->call_count, vaddr);
}

uint32_t variables_call_type(const struct variables *variables, uint64_t vaddr)
{
        const struct call_result *found = call_at(variables, vaddr);

        return found ? found->type : TYPE_NONE;
}

uint32_t variables_call_name(const struct variables *variables, uint64_t vaddr)
{
        const struct call_result *found = call_at(variables, vaddr);

        return found ? found->name : 0;
}
