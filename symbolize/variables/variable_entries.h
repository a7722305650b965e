/* SPDX-License-Identifier: MIT */
/* The variables and calls of one function, as its entries describe them. */
#ifndef MEMLAG_SYMBOLIZE_VARIABLE_ENTRIES_H
#define MEMLAG_SYMBOLIZE_VARIABLE_ENTRIES_H

#include "variables.h"

/* Adds the variables and calls of FUNCTION to VARIABLES, whose maps are not built. 0
 * or -ENOMEM. */
int variable_entries_read(struct variables *variables, struct type_reader *reader,
                          Dwarf_Die *function);

#endif
