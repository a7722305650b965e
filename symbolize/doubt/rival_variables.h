/* SPDX-License-Identifier: MIT */
/* Two pointers of one block that have the same value: what is read there may be of
 * either.
 */
#ifndef MEMLAG_SYMBOLIZE_RIVAL_VARIABLES_H
#define MEMLAG_SYMBOLIZE_RIVAL_VARIABLES_H

#include "variables.h"

/* Takes note where VARIABLES, pointers to structures of which none holds the other, are
 * in one place at a time. 0 or -ENOMEM. */
int rival_variables_find(struct variables *variables, struct type_reader *reader);

/* Whether VARIABLE (NULL: none) is one of those at VADDR. */
static inline bool variable_has_rival(const struct register_variable *variable,
                                      uint64_t vaddr)
{
        return variable && vaddr >= variable->rival_low && vaddr < variable->rival_high;
}

#endif
