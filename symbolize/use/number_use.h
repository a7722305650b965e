/* SPDX-License-Identifier: MIT */
/* The kind of number that an instruction reads. The load itself does not show it: moves
 * are the same for all kinds, and for copies of structures. */
#ifndef MEMLAG_SYMBOLIZE_NUMBER_USE_H
#define MEMLAG_SYMBOLIZE_NUMBER_USE_H

#include "flow_code.h"
#include "type_access.h"

/* Sets the kind of number in ACCESS by the first operation on the number that STEP reads.
 * If it reads several numbers, sets their size, too. */
void number_use(const struct flow_code *code, size_t step, struct type_access *access);

#endif
