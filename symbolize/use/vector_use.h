/* SPDX-License-Identifier: MIT */
/* The kind of numbers in a vector that an instruction reads. */
#ifndef MEMLAG_SYMBOLIZE_VECTOR_USE_H
#define MEMLAG_SYMBOLIZE_VECTOR_USE_H

#include "flow_code.h"
#include "type_access.h"

/* Sets the number and the item_bytes of ACCESS, by what STEP does with them, or the first
 * instruction behind it that counts with the register that STEP loads. */
void vector_use(const struct flow_code *code, size_t step, struct type_access *access);

#endif
