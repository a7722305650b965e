/* SPDX-License-Identifier: MIT */
/* What the source says against the field that an instruction's pointer leads to: authors
 * cast pointers in the midst of an expression, of which debug information says nothing.
 */
#ifndef MEMLAG_SYMBOLIZE_SOURCE_RIVAL_H
#define MEMLAG_SYMBOLIZE_SOURCE_RIVAL_H

#include "access.h"

/* Leaves open what those of ACCESSES, COUNT places in the order of any, point to whose
 * source names no member that is there, but one of another structure that lies at the
 * same place in that and has as many bytes. 0 or -ENOMEM. */
int source_rivals_find(struct type_reader *reader, struct access **accesses,
                       size_t count);

#endif
