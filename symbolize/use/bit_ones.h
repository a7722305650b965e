/* SPDX-License-Identifier: MIT */
/* Bits of a register that are known to be one: a mask leaves them. */
#ifndef MEMLAG_SYMBOLIZE_BIT_ONES_H
#define MEMLAG_SYMBOLIZE_BIT_ONES_H

#include "bit_watch.h"

/* The bits of OPERAND that WATCH knows to be one. */
uint64_t bit_ones(const struct bit_watch *watch, const ZydisDecodedOperand *operand);

/* The known ones of the register that DECODED writes first, behind it; WATCH is the state
 * before it. */
uint64_t bit_ones_after(const struct bit_watch *watch, const struct decoded *decoded);

#endif
