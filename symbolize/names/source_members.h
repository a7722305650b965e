/* SPDX-License-Identifier: MIT */
/* What the source calls the members that instructions access, where it is at hand. */
#ifndef MEMLAG_SYMBOLIZE_SOURCE_MEMBERS_H
#define MEMLAG_SYMBOLIZE_SOURCE_MEMBERS_H

#include "access.h"
#include "looked_for.h"

/* Sets the members of those of ACCESSES, COUNT places of the program at PROGRAM, whose
 * line and column are in a source file that is not newer than that. Their names go into
 * NAMES, the files that are read into LOOKED_FOR. The order of ACCESSES changes. 0 or
 * -ENOMEM. */
int source_members_find(struct access **accesses, size_t count, const char *program,
                        struct string_pool *names, struct looked_for *looked_for);

#endif
