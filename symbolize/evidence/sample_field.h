/* SPDX-License-Identifier: MIT */
/* What lies at an offset of a type that a sample is known to be in. */
#ifndef MEMLAG_SYMBOLIZE_SAMPLE_FIELD_H
#define MEMLAG_SYMBOLIZE_SAMPLE_FIELD_H

#include "sample_type.h"

struct sample_type type_left_open(enum untyped reason);

/* FOUND, if it is a type, is what SOURCE tells. */
struct sample_type type_told(struct sample_type found, struct type_source source);

/* The field of TYPE, of an array its items, OFFSET bytes behind its start, that ACCESS
 * may be to. */
struct sample_type sample_field_at(struct sample_types *finder, uint32_t type,
                                   uint64_t offset, const struct type_access *access);

#endif
