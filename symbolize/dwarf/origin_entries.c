/* SPDX-License-Identifier: MIT */
/* An inlined function that has no variables has none that others are missing beside. */
#include "origin_entries.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "compare.h"

int origin_entries_keep(struct origin_entries *entries, struct dwarf_file *dwarf,
                        Dwarf_Die *die, uint32_t instance)
{
        Dwarf_Die origin_die;

        if (!die_origin(dwarf, die, &origin_die))
                return 0;
        if (array_reserve(&entries->items, &entries->capacity, entries->count,
                          sizeof(*entries->items)) < 0)
                return -ENOMEM;
        entries->items[entries->count++] =
            (struct origin_entry){dwarf_dieoffset(&origin_die), instance};
        return 0;
}

static int compare(const void *left, const void *right)
{
        const struct origin_entry *a = left, *b = right;

        COMPARE(a->instance, b->instance);
        return 0;
}

void origin_entries_sort(struct origin_entries *entries)
{
        if (entries->count > 1)
                qsort(entries->items, entries->count, sizeof(*entries->items), compare);
}

static bool is_before(const void *item, const void *key)
{
        const struct origin_entry *entry = item;

        return entry->instance < *(const uint32_t *)key;
}

int origin_entries_compare(const struct origin_entries *entries,
                           struct variables *variables, struct type_reader *reader,
                           const struct function_instance *function)
{
        size_t first =
            array_count_before(entries->items, entries->count, sizeof(*entries->items),
                               is_before, &function->number);
        size_t end = first, count;
        Dwarf_Die die = function->die, origin_die;
        int error;

        while (end < entries->count && entries->items[end].instance == function->number)
                end++;
        count = end - first;
        if (function->inlined ? count == 0 : function->range_count == 0)
                return 0;
        if (!die_origin(reader->dwarf, &die, &origin_die))
                return 0;
        Dwarf_Off *kept = calloc(count + 1, sizeof(*kept));

        if (!kept)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                kept[i] = entries->items[first + i].origin;
        error = function->inlined
                    ? lost_pointers_of_inlined(variables, reader, &origin_die, kept,
                                               count, function->number)
                    : lost_pointers_of_origin(variables, reader, &origin_die, kept, count,
                                              function->ranges, function->range_count);
        free(kept);
        return error;
}

void origin_entries_free(struct origin_entries *entries)
{
        free(entries->items);
        *entries = (struct origin_entries){0};
}
