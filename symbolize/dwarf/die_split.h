/* SPDX-License-Identifier: MIT */
/* Units of a program with entries in separate files: their skeletons in the program, and
 * a limit on their number. */
#ifndef MEMLAG_SYMBOLIZE_DIE_SPLIT_H
#define MEMLAG_SYMBOLIZE_DIE_SPLIT_H

#include "die.h"

/* Opens the rest of unit NUMBER, at DIE; FILE owns it. NULL if the unit is whole, or its
 * rest is missing, which FILE counts. */
struct split_unit *die_split_open(struct dwarf_file *file, Dwarf_Die *die, size_t number);

/* The type in the package that ATTRIBUTE, of an entry in SECTION, refers to by signature.
 * False if there is none, or no room. */
bool die_split_type(struct dwarf_file *file, struct elf_bytes section,
                    const Dwarf_Attribute *attribute, Dwarf_Die *type);

#endif
