/* SPDX-License-Identifier: MIT */
/* The members that instructions access, by their names in the source, if available. */
#ifndef MEMLAG_SYMBOLIZE_SOURCE_MEMBERS_H
#define MEMLAG_SYMBOLIZE_SOURCE_MEMBERS_H

#include "accesses.h"
#include "looked_for.h"

/* Sets the members of ACCESSES, COUNT accesses of the program at PROGRAM. It needs the
 * access's line and column in a source file that is not newer than the program. Member
 * names go into NAMES, the files read into LOOKED_FOR. The order of ACCESSES changes.
 * 0 or -ENOMEM. */
int source_members_find(struct access **accesses, size_t count, const char *program,
                        struct string_pool *names, struct looked_for *looked_for);

#endif
