/* SPDX-License-Identifier: MIT */
#include "code_scope.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "die_walk.h"

static int visit_scope(void *context, struct die_entry *entry)
{
        struct code_scopes *scopes = context;

        switch (entry->tag) {
        case DW_TAG_subprogram:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_namespace:
                return PUSH(scopes, entry->die);
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
                return 1;
        default:
                return 0;
        }
}

/* Finds the scopes inside DIE, or reads them. */
static int read_inside(struct code_scopes *scopes, struct dwarf_file *dwarf,
                       const Dwarf_Die *die, struct code_scope *inside)
{
        uint32_t known = HASH_NUMBER(&scopes->known, (uintptr_t)die->addr);

        if (known != HASH_INDEX_NONE) {
                *inside = scopes->known.items[known];
                return 0;
        }
        *inside = (struct code_scope){.start = die->addr, .first = scopes->count};
        if (die_walk(dwarf, die, visit_scope, scopes) == -ENOMEM)
                return -ENOMEM;
        inside->end = scopes->count;
        return HASH_PUSH(&scopes->known, hash_number(0, (uintptr_t)die->addr), *inside);
}

int code_scopes_outer(struct code_scopes *scopes, struct dwarf_file *dwarf,
                      const Dwarf_Die *die, Dwarf_Die *outer)
{
        Dwarf_Die at = *die, root, around = {0};
        struct code_scope inside;

        *outer = (Dwarf_Die){0};
        if (!dwarf_diecu(&at, &root, NULL, NULL))
                return 0;
        for (at = root; at.addr != die->addr;) {
                /* A scope further out would be a wrong name. */
                if (!die_spend(dwarf, 1))
                        return 0;
                int error = read_inside(scopes, dwarf, &at, &inside);

                if (error)
                        return error;
                size_t up_to =
                    NUMBER_UNTIL(scopes->items + inside.first, inside.end - inside.first,
                                 (uintptr_t)die->addr);

                if (up_to == 0)
                        return 0;
                around = at;
                at = scopes->items[inside.first + up_to - 1];
        }
        if (around.addr != root.addr)
                *outer = around;
        return 0;
}

void code_scopes_free(struct code_scopes *scopes)
{
        free(scopes->items);
        HASH_FREE(&scopes->known);
}
