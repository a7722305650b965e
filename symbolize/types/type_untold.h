/* SPDX-License-Identifier: MIT */
/* Where a type does not tell what it holds. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_UNTOLD_H
#define MEMLAG_SYMBOLIZE_TYPE_UNTOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "type_table.h"

/* Whether TYPE does not tell its content at OFFSET: bytes or an array of integers, for
 * any use, or unlisted members. In a union one such member is enough. Bytes beside a
 * pointer member do not count if a POINTER is read: they may only give the union its
 * size. */
bool type_untold(const struct types *types, uint32_t type, uint64_t offset, bool pointer);

#endif
