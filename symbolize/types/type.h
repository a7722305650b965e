/* SPDX-License-Identifier: MIT */
/* The data types of a program, for those that ask: their tables, and all that can be
 * found out from these alone. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_H
#define MEMLAG_SYMBOLIZE_TYPE_H

#include "type_access.h"
#include "type_field.h"
#include "type_index.h"
#include "type_list.h"
#include "type_table.h"

#endif
