/* SPDX-License-Identifier: MIT */
#include "lost_functions.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "compare.h"
#include "die_walk.h"

/* Entries whose code other units describe. */
struct used {
        struct dwarf_file *dwarf;
        const void **entries;
        size_t count;
        size_t capacity;
};

static int visit(void *context, struct die_entry *entry, uint32_t parent, uint32_t *value)
{
        struct used *used = context;
        Dwarf_Die at = entry->die, origin;

        (void)parent;
        (void)value;
        if (entry->tag != DW_TAG_subprogram && entry->tag != DW_TAG_inlined_subroutine)
                return 1;
        for (int i = 0; i < 4 && at.cu == entry->die.cu; i++) {
                if (!die_reference(used->dwarf, &at, DW_AT_abstract_origin, &origin))
                        return 1;
                at = origin;
        }
        if (at.cu == entry->die.cu)
                return 1;
        if (array_reserve(&used->entries, &used->capacity, used->count,
                          sizeof(*used->entries)) < 0)
                return -ENOMEM;
        used->entries[used->count++] = at.addr;
        return 1;
}

static int compare_entries(const void *left, const void *right)
{
        const void *const *a = left, *const *b = right;

        COMPARE((uintptr_t)*a, (uintptr_t)*b);
        return 0;
}

static bool is_used(const struct used *used, const struct unit_function *function)
{
        const void *key = function->die.addr;

        return used->count > 0 && bsearch(&key, used->entries, used->count,
                                          sizeof(*used->entries), compare_entries);
}

/* Reads what all units define and use. */
static int read_units(struct unit_functions *functions, struct used *used)
{
        Dwarf_Die die, entries;
        struct unit_range unit;
        int error = 0;

        for (size_t i = 0; i < used->dwarf->unit_count && !error; i++) {
                if (!die_open_unit(used->dwarf, i, &die, &entries))
                        continue;
                error = unit_functions_read(functions, &entries, &unit);
                if (!error &&
                    die_walk_code(used->dwarf, &entries, visit, used) == -ENOMEM)
                        error = -ENOMEM;
        }
        if (used->count > 1)
                qsort(used->entries, used->count, sizeof(*used->entries),
                      compare_entries);
        return error;
}

int lost_functions_read(struct lost_functions *lost, struct unit_functions *functions)
{
        struct used used = {.dwarf = functions->dwarf};

        if (lost->read)
                return 0;
        int error = read_units(functions, &used);

        for (size_t i = 0; i < functions->count && !error; i++) {
                const struct unit_function *function = &functions->items[i];

                if (!function->codeless || is_used(&used, function))
                        continue;
                error = array_reserve(&lost->items, &lost->capacity, lost->count,
                                      sizeof(*lost->items));
                if (!error)
                        lost->items[lost->count++] =
                            signature_of(functions->dwarf, &function->die);
        }
        free(used.entries);
        lost->read = !error;
        return error;
}

bool lost_functions_have(const struct lost_functions *lost,
                         const struct signature *signature)
{
        for (size_t i = 0; i < lost->count; i++)
                if (signature_same(signature, &lost->items[i]))
                        return true;
        return false;
}

void lost_functions_free(struct lost_functions *lost)
{
        free(lost->items);
        *lost = (struct lost_functions){0};
}
