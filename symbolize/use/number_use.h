/* SPDX-License-Identifier: MIT */
/* The kind of number that an instruction reads. Moves are the same for all kinds, and for
 * copies of structures. */
#ifndef MEMLAG_SYMBOLIZE_NUMBER_USE_H
#define MEMLAG_SYMBOLIZE_NUMBER_USE_H

#include "flow_code.h"
#include "type_access.h"

/* Sets the kind of number in ACCESS, by the first operation on what STEP reads. Of
 * several at once also their bytes. */
void number_use(const struct flow_code *code, size_t step, struct type_access *access);

#endif
