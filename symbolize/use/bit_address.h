/* SPDX-License-Identifier: MIT */
/* Where the operand of a load is after registers of its address have changed. */
#ifndef MEMLAG_SYMBOLIZE_BIT_ADDRESS_H
#define MEMLAG_SYMBOLIZE_BIT_ADDRESS_H

#include "bit_watch.h"
#include "flow_code.h"

/* Sets in WATCH the copies of the base of the operand of STEP, of CODE, as the code
 * before it in the same block shows. */
void bit_address_begin(struct bit_watch *watch, const struct flow_code *code,
                       size_t step);

/* How many bytes the operand of LOAD begins behind LATER's, by WATCH's copies of
 * registers; false: not known. */
bool bit_address_before(const struct bit_watch *watch, const struct instruction *load,
                        const struct instruction *later, int64_t *bytes);

/* Whether LATER's operand may be at that place by another base. */
bool bit_address_unclear(const struct bit_watch *watch, const struct instruction *load,
                         const struct instruction *later);

/* Takes note in WATCH that DECODED changes the registers of the mask WRITTEN. */
void bit_address_change(struct bit_watch *watch, const struct instruction *load,
                        uint32_t written, const struct decoded *decoded);

#endif
