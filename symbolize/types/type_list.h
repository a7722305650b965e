/* SPDX-License-Identifier: MIT */
/* All fields of a type. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_LIST_H
#define MEMLAG_SYMBOLIZE_TYPE_LIST_H

#include <stdint.h>

#include "string_pool.h"
#include "type_field.h"
#include "type_table.h"

/* Calls ADD with CONTEXT for each field of TYPE in the order of offsets as declared,
 * until it returns non-zero, which is returned; else 0. Of an array the first element's
 * fields stand for all. FIELD is ADD's for the call only, its name stays in NAMES. */
typedef int type_add_field(void *context, const struct field *field);
int type_fields(const struct types *types, struct string_pool *names, uint32_t type,
                type_add_field *add, void *context);

#endif
