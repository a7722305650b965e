/* SPDX-License-Identifier: MIT */
/* A block without code has an entry of its own, or where the function's entry has an
 * origin, none but in that. */
#include "lost_pointers.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "die_walk.h"

enum { BLOCK_IS_LOST = 1, BLOCK_DEPTH = 2 };
enum { OUTERMOST = 1 }; /* the number of the function that is inlined in none */

struct origin_walk {
        struct variables *variables;
        struct type_reader *reader;
        const Dwarf_Off *kept;
        size_t kept_count;
        const struct code_range *ranges;
        size_t range_count;
        uint32_t instance; /* of an inlined function */
};

int lost_pointers_add(struct variables *variables, struct type_reader *reader,
                      Dwarf_Die *die, const struct lost_pointer *block,
                      const struct code_range *ranges, size_t count)
{
        if (!die_spend(reader->dwarf, count + 1))
                return 0;
        uint32_t type = type_of_variable(reader, die);

        if (type == TYPE_NONE)
                return reader->error;
        if (reader->types->items[type].kind != TYPE_POINTER)
                return 0;
        for (size_t i = 0; i < count; i++) {
                if (array_reserve(&variables->lost, &variables->lost_capacity,
                                  variables->lost_count, sizeof(*variables->lost)) < 0)
                        return -ENOMEM;
                variables->lost[variables->lost_count++] = (struct lost_pointer){
                    ranges[i].low, ranges[i].high, type, block->depth, block->instance};
        }
        return 0;
}

int lost_pointers_unplaced(struct variables *variables, struct type_reader *reader,
                           const struct unplaced_variable *place,
                           const struct code_range *ranges, size_t count)
{
        if (!die_spend(reader->dwarf, count + 1))
                return 0;
        for (size_t i = 0; i < count; i++) {
                if (array_reserve(&variables->unplaced, &variables->unplaced_capacity,
                                  variables->unplaced_count,
                                  sizeof(*variables->unplaced)) < 0)
                        return -ENOMEM;
                variables->unplaced[variables->unplaced_count] = *place;
                variables->unplaced[variables->unplaced_count].low = ranges[i].low;
                variables->unplaced[variables->unplaced_count++].high = ranges[i].high;
        }
        return 0;
}

int lost_pointers_missing(struct variables *variables, struct type_reader *reader,
                          Dwarf_Die *die, uint32_t instance)
{
        uint32_t type = type_of_variable(reader, die);

        if (type == TYPE_NONE)
                return reader->error;
        if (reader->types->items[type].kind != TYPE_POINTER)
                return 0;
        if (array_reserve(&variables->missing, &variables->missing_capacity,
                          variables->missing_count, sizeof(*variables->missing)) < 0)
                return -ENOMEM;
        variables->missing[variables->missing_count++] =
            (struct missing_pointer){instance, type};
        return 0;
}

static int compare_offsets(const void *left, const void *right)
{
        const Dwarf_Off *a = left, *b = right;

        return *a < *b ? -1 : *a > *b;
}

static bool is_kept(const struct origin_walk *walk, Dwarf_Die *die)
{
        Dwarf_Off offset = dwarf_dieoffset(die);

        return walk->kept_count > 0 && bsearch(&offset, walk->kept, walk->kept_count,
                                               sizeof(offset), compare_offsets);
}

static int visit(void *context, struct die_entry *entry, uint32_t parent, uint32_t *value)
{
        struct origin_walk *walk = context;
        const struct lost_pointer block = {.depth = (uint16_t)(parent / BLOCK_DEPTH),
                                           .instance = OUTERMOST};

        *value = 0;
        switch (entry->tag) {
        case DW_TAG_variable:
                return parent & BLOCK_IS_LOST
                           ? lost_pointers_add(walk->variables, walk->reader, &entry->die,
                                               &block, walk->ranges, walk->range_count)
                           : 0;
        case DW_TAG_lexical_block:
                *value = (parent & ~(uint32_t)BLOCK_IS_LOST) + BLOCK_DEPTH;
                if (*value / BLOCK_DEPTH > UINT16_MAX)
                        return 0;
                if (parent & BLOCK_IS_LOST || !is_kept(walk, &entry->die))
                        *value |= BLOCK_IS_LOST;
                return 1;
        default:
                return 0;
        }
}

static int visit_inlined(void *context, struct die_entry *entry, uint32_t parent,
                         uint32_t *value)
{
        struct origin_walk *walk = context;

        (void)parent;
        *value = 0;
        switch (entry->tag) {
        case DW_TAG_variable:
                return is_kept(walk, &entry->die)
                           ? 0
                           : lost_pointers_missing(walk->variables, walk->reader,
                                                   &entry->die, walk->instance);
        case DW_TAG_lexical_block:
                return 1;
        default:
                return 0;
        }
}

static int walk_origin(struct origin_walk *walk, Dwarf_Die *origin, Dwarf_Off *kept,
                       die_visit *each)
{
        if (walk->kept_count > 1)
                qsort(kept, walk->kept_count, sizeof(*kept), compare_offsets);
        int error = die_walk_from(walk->reader->dwarf, origin, 0, each, walk);

        return error == -ENOMEM ? error : 0;
}

int lost_pointers_of_origin(struct variables *variables, struct type_reader *reader,
                            Dwarf_Die *origin, Dwarf_Off *kept, size_t kept_count,
                            const struct code_range *ranges, size_t count)
{
        struct origin_walk walk = {variables, reader, kept, kept_count, ranges, count, 0};

        return walk_origin(&walk, origin, kept, visit);
}

int lost_pointers_of_inlined(struct variables *variables, struct type_reader *reader,
                             Dwarf_Die *origin, Dwarf_Off *kept, size_t kept_count,
                             uint32_t instance)
{
        struct origin_walk walk = {variables, reader, kept,    kept_count,
                                   NULL,      0,      instance};

        return walk_origin(&walk, origin, kept, visit_inlined);
}
