/* SPDX-License-Identifier: MIT */
/* What the entries of one function say of its variables and calls, as they stand there.
 */
#ifndef MEMLAG_SYMBOLIZE_VARIABLE_ENTRIES_H
#define MEMLAG_SYMBOLIZE_VARIABLE_ENTRIES_H

#include "variables.h"

/* Adds those of FUNCTION to VARIABLES, whose maps are not built. 0 or -ENOMEM. */
int variable_entries_read(struct variables *variables, struct type_reader *reader,
                          Dwarf_Die *function);

#endif
