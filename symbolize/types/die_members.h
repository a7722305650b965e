/* SPDX-License-Identifier: MIT */
/* The members of a structure, union or class, with offsets and types. */
#ifndef MEMLAG_SYMBOLIZE_DIE_MEMBERS_H
#define MEMLAG_SYMBOLIZE_DIE_MEMBERS_H

#include "die_type.h"

/* Zero-initialised: none. */
struct die_members {
        LIST(struct member);
        bool lost;     /* the names or types of some members */
        bool left_out; /* some, whose offset or condition is not known */
};

/* Adds the members of the entry DIE; IN_UNION: it is a union. READER notes errors. The
 * caller frees the items. */
void die_members_read(struct type_reader *reader, Dwarf_Die *die, bool in_union,
                      struct die_members *members);

#endif
