/* SPDX-License-Identifier: MIT */
/* What entries, or those that they are instances of, say of where they are declared. */
#ifndef MEMLAG_SYMBOLIZE_DECLARED_H
#define MEMLAG_SYMBOLIZE_DECLARED_H

#include "code_entry.h"

/* The name of the file in the pool; 0: unknown. *OWN: it is the source file of the unit
 * that declares it, and no header. */
uint32_t declared_file(struct code_entries *entries, const Dwarf_Die *die, bool *own);
/* The line or column, by the attribute NAME; 0: unknown. */
uint32_t declared_position(struct code_entries *entries, const Dwarf_Die *die,
                           unsigned name);
/* Whether other files know DIE by its name. */
bool declared_external(struct code_entries *entries, const Dwarf_Die *die);

#endif
