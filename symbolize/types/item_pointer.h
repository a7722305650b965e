/* SPDX-License-Identifier: MIT */
/* Pointers to items that are declared as pointers to bytes: generic code of Rust's
 * vectors has them. */
#ifndef MEMLAG_SYMBOLIZE_ITEM_POINTER_H
#define MEMLAG_SYMBOLIZE_ITEM_POINTER_H

#include "die_members.h"

/* The type parameter of DIE, a structure or class, that comes first, in *PARAMETER. */
bool item_parameter(struct type_reader *reader, Dwarf_Die *die, Dwarf_Die *parameter);

/* Where DIE, of MEMBERS, is such a vector, the pointers to bytes in them become pointers
 * to its items. Errors are READER's. */
void item_pointers_settle(struct type_reader *reader, Dwarf_Die *die,
                          struct die_members *members);

#endif
