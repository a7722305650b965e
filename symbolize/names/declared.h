/* SPDX-License-Identifier: MIT */
/* Declaration coordinates of entries, or of their abstract origins. */
#ifndef MEMLAG_SYMBOLIZE_DECLARED_H
#define MEMLAG_SYMBOLIZE_DECLARED_H

#include "code_entry.h"

/* *BY becomes the entry with DIE's declaration: DIE, or the function that contains it.
 * The compiler makes such a part for OpenMP without saying so. 0 or -ENOMEM. */
int declared_by(struct code_entries *entries, const Dwarf_Die *die, Dwarf_Die *by);
/* The name of the file in the pool; 0: unknown. *OWN: it is the source file of the
 * declaring unit, not a header. Compiler-generated functions count as declared in the
 * source file. */
uint32_t declared_file(struct code_entries *entries, const Dwarf_Die *die, bool *own);
/* The name of file NUMBER in the unit's line table; 0: unknown. Entries in a split file
 * refer to the same table: a table in the split file belongs to units of types (DWARF 5,
 * section 7.3.2.2). */
uint32_t declared_put_file(struct code_entries *entries, uint64_t number);

/* The line or column, by the attribute NAME; 0: unknown. */
uint32_t declared_position(struct code_entries *entries, const Dwarf_Die *die,
                           unsigned name);
/* *OUTER becomes the function, class or namespace around the entry DIE, which is one
 * itself. OUTER's addr is NULL if there is none. 0 or -ENOMEM. */
int declared_inside(struct code_entries *entries, const Dwarf_Die *die, Dwarf_Die *outer);

/* Whether DIE's name is known in other files. */
bool declared_external(struct code_entries *entries, const Dwarf_Die *die);

#endif
