/* SPDX-License-Identifier: MIT */
#include "code_scope.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "die_walk.h"

static int visit_scope(void *context, struct die_entry *entry, uint32_t parent,
                       uint32_t *value)
{
        struct code_scopes *scopes = context;

        switch (entry->tag) {
        case DW_TAG_subprogram:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_namespace:
                if (scopes->count >= UINT32_MAX ||
                    PUSH(scopes, (struct code_scope){entry->die, parent}) < 0)
                        return -ENOMEM;
                *value = (uint32_t)scopes->count;
                return 1;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
                return 1;
        default:
                return 0;
        }
}

static bool is_unit(const void *context, const void *start, uint32_t position)
{
        const struct code_scopes *scopes = context;

        return scopes->units[position].start == start;
}

/* Finds the scopes of the unit at ROOT, or reads them. */
static int read_unit(struct code_scopes *scopes, struct dwarf_file *dwarf,
                     const Dwarf_Die *root, struct code_scope_unit *unit)
{
        uint32_t hash = hash_bytes(&root->addr, sizeof(root->addr));
        uint32_t known =
            hash_index_find(&scopes->index, hash, is_unit, scopes, root->addr);

        if (known != HASH_INDEX_NONE) {
                *unit = scopes->units[known];
                return 0;
        }
        *unit = (struct code_scope_unit){.start = root->addr, .first = scopes->count};
        if (die_walk(dwarf, root, visit_scope, scopes) == -ENOMEM)
                return -ENOMEM;
        unit->end = scopes->count;
        return HASH_APPEND(&scopes->index, hash, scopes->units, scopes->unit_count,
                           scopes->unit_capacity, *unit);
}

int code_scopes_outer(struct code_scopes *scopes, struct dwarf_file *dwarf,
                      const Dwarf_Die *die, Dwarf_Die *outer)
{
        Dwarf_Die at = *die, root;
        struct code_scope_unit unit;

        *outer = (Dwarf_Die){0};
        if (!dwarf_diecu(&at, &root, NULL, NULL))
                return 0;
        int error = read_unit(scopes, dwarf, &root, &unit);

        if (error)
                return error;
        /* Entries begin with their addresses. */
        const struct code_scope *items = scopes->items + unit.first;
        size_t count = unit.end - unit.first;
        size_t i = number_from(items, count, sizeof(*items), (uintptr_t)die->addr);

        if (i < count && items[i].die.addr == die->addr && items[i].parent > 0)
                *outer = scopes->items[items[i].parent - 1].die;
        return 0;
}

void code_scopes_free(struct code_scopes *scopes)
{
        free(scopes->items);
        free(scopes->units);
        hash_index_free(&scopes->index);
}
