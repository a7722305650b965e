/* SPDX-License-Identifier: MIT */
/* What the number is that an instruction reads: a move is the same for any, and copies of
 * structures too. */
#ifndef MEMLAG_SYMBOLIZE_NUMBER_USE_H
#define MEMLAG_SYMBOLIZE_NUMBER_USE_H

#include "flow_code.h"
#include "type_access.h"

/* Says in ACCESS what is known of the number, by what STEP does with what it reads from
 * memory, or what does the next thing with it on the ways that lead on. */
void number_use(const struct flow_code *code, size_t step, struct type_access *access);

#endif
