/* SPDX-License-Identifier: MIT */
/* Two pointers of one block with the same value: an access there may be by either. */
#ifndef MEMLAG_SYMBOLIZE_RIVAL_VARIABLES_H
#define MEMLAG_SYMBOLIZE_RIVAL_VARIABLES_H

#include "variables.h"

/* Notes where VARIABLES with pointers to unrelated structures are in one register at the
 * same time. 0 or -ENOMEM. */
int rival_variables_find(struct variables *variables, struct type_reader *reader);

#endif
