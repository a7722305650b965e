/* SPDX-License-Identifier: MIT */
/* Which bytes of a vector are used that was loaded with its neighbours. */
#ifndef MEMLAG_SYMBOLIZE_VECTOR_LANES_H
#define MEMLAG_SYMBOLIZE_VECTOR_LANES_H

#include "flow_code.h"
#include "type_access.h"

/* Sets the first_byte and the used_bytes of ACCESS, by what STEP, which reads a vector
 * from memory, takes of it, and what follows: where some bytes are known not to be used.
 */
void vector_lanes(const struct flow_code *code, size_t step, struct type_access *access);

#endif
