/* SPDX-License-Identifier: MIT */
/* A type's name in the source, by its entry. Names and kept memory go into the reader's
 * pool; the reader notes when memory is short. */
#ifndef MEMLAG_SYMBOLIZE_DIE_TYPE_NAME_H
#define MEMLAG_SYMBOLIZE_DIE_TYPE_NAME_H

#include "die_type.h"

/* The name of the entry DIE itself, the file's; NULL: none. */
const char *type_own_name(struct type_reader *reader, Dwarf_Die *die);

/* Takes typedefs and qualifiers off DIE. *ALIAS (ALIAS may be NULL) is the last typedef
 * before the result; false at the end of a chain to nothing (void). */
bool type_strip(struct type_reader *reader, Dwarf_Die *die, const char **alias);

/* What stands before the type's name in the source: "struct " or "outer::". The pool's,
 * or constant. */
const char *type_name_prefix(struct type_reader *reader, Dwarf_Die *die);

/* DIE's type as it is written in the source, without qualifiers; 0: out of memory. */
uint32_t type_spelled_name(struct type_reader *reader, Dwarf_Die die);

#endif
