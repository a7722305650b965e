/* SPDX-License-Identifier: MIT */
/* The type of a sample in a function that the debug information does not describe. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_BY_FUNCTION_H
#define MEMLAG_SYMBOLIZE_TYPE_BY_FUNCTION_H

#include "memory_function.h"
#include "sample_type.h"

/* Which function that copies or compares memory PLACE is in. */
enum memory_function memory_function_at(const struct sample_types *finder,
                                        uint32_t place);

/* The C library's string functions read characters only, in each processor's version. */
struct sample_type type_by_function(struct sample_types *finder,
                                    const struct sample_location *location);

#endif
