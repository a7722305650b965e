/* SPDX-License-Identifier: MIT */
/* The members of a structure, union or class, with offsets and types. */
#ifndef MEMLAG_SYMBOLIZE_DIE_MEMBERS_H
#define MEMLAG_SYMBOLIZE_DIE_MEMBERS_H

#include "die_type.h"

/* Zero-initialised: none. */
struct die_members {
        LIST(struct member);
        bool lost;     /* the names or types of some */
        bool left_out; /* some: it is not known where, or when, they are there */
};

/* Adds the members of the entry DIE, of a union where IN_UNION. Errors are READER's. The
 * caller frees the items. */
void die_members_read(struct type_reader *reader, Dwarf_Die *die, bool in_union,
                      struct die_members *members);

#endif
