/* SPDX-License-Identifier: MIT */
/* Which bytes of a vector are used that was loaded with its neighbours. */
#ifndef MEMLAG_SYMBOLIZE_VECTOR_LANES_H
#define MEMLAG_SYMBOLIZE_VECTOR_LANES_H

#include "flow_code.h"
#include "type_access.h"

/* Sets ACCESS's first_byte and used_bytes, if STEP, a load of a vector, and the code
 * behind it do not use all bytes. */
void vector_lanes(const struct flow_code *code, size_t step, struct type_access *access);

#endif
