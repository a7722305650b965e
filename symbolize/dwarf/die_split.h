/* SPDX-License-Identifier: MIT */
/* Units of a program with entries in separate files: their parts of the program, and
 * their limit. */
#ifndef MEMLAG_SYMBOLIZE_DIE_SPLIT_H
#define MEMLAG_SYMBOLIZE_DIE_SPLIT_H

#include "die.h"

/* Opens the rest of unit NUMBER, which is at DIE; it is then FILE's. NULL when the unit
 * is whole, or its rest cannot be had, which FILE counts. */
struct split_unit *die_split_open(struct dwarf_file *file, Dwarf_Die *die, size_t number);

/* The type that ATTRIBUTE refers to by signature, from an entry in SECTION: one in the
 * package. False when there is none, or no room. */
bool die_split_type(struct dwarf_file *file, struct elf_bytes section,
                    const Dwarf_Attribute *attribute, Dwarf_Die *type);

#endif
