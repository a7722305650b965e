/* SPDX-License-Identifier: MIT */
/* Whether a number that code hands to a function is a quotient: of bytes that are rounded
 * up to whole units, mostly. */
#ifndef MEMLAG_SYMBOLIZE_DIVIDED_COUNT_H
#define MEMLAG_SYMBOLIZE_DIVIDED_COUNT_H

#include "flow_code.h"

/* Whether REG, before step number AT of CODE, is a quotient, as the code before shows. */
bool divided_count(const struct flow_code *code, size_t at, uint8_t reg);

#endif
