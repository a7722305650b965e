/* SPDX-License-Identifier: MIT */
/* Traversal of a unit's entries. It reads each entry at most once, for any input. */
#ifndef MEMLAG_SYMBOLIZE_DIE_WALK_H
#define MEMLAG_SYMBOLIZE_DIE_WALK_H

#include "die.h"

struct die_entry {
        Dwarf_Die die;
        unsigned tag;
        uint32_t parent; /* the value of the entry around it; 0 at the top */
        uint32_t value;  /* for its children; the parent's unless the visit sets it */
};

/* Visits the entries below the unit or entry at ROOT in their order. VISIT returns
 * whether to visit ENTRY's children, or a negative error, which ends the traversal. */
typedef int die_visit(void *context, struct die_entry *entry);

int die_walk(struct dwarf_file *file, const Dwarf_Die *root, die_visit *visit,
             void *context);
/* The same with a value at the top. */
int die_walk_from(struct dwarf_file *file, const Dwarf_Die *root, uint32_t value_at_root,
                  die_visit *visit, void *context);
#endif
