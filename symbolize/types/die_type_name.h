/* SPDX-License-Identifier: MIT */
/* A type's name in the source, by its entry. Names and cached data go into the reader's
 * pool; the reader notes when memory is short. */
#ifndef MEMLAG_SYMBOLIZE_DIE_TYPE_NAME_H
#define MEMLAG_SYMBOLIZE_DIE_TYPE_NAME_H

#include "die_type.h"

/* The name of the entry DIE itself, owned by the file; NULL: none. */
const char *type_own_name(struct type_reader *reader, Dwarf_Die *die);

/* Removes typedefs and qualifiers from DIE. *ALIAS (ALIAS may be NULL) becomes the last
 * typedef before the result. False if the chain ends at void. */
bool type_strip(struct type_reader *reader, Dwarf_Die *die, const char **alias);

/* The text before the type's name in the source: "struct " or "outer::". The pool owns
 * it, or it is constant. */
const char *type_name_prefix(struct type_reader *reader, Dwarf_Die *die);

/* DIE's type as the source writes it, without qualifiers; 0: out of memory. */
uint32_t type_spelled_name(struct type_reader *reader, Dwarf_Die die);

#endif
