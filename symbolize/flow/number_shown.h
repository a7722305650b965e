/* SPDX-License-Identifier: MIT */
/* What one instruction shows of the number in a register or in memory that it reads. Of
 * integer instructions only what is not also done to the bits of a number of floating
 * point, of which programs test the sign, take the exponent or make a hash. */
#ifndef MEMLAG_SYMBOLIZE_NUMBER_SHOWN_H
#define MEMLAG_SYMBOLIZE_NUMBER_SHOWN_H

#include "decoded.h"
#include "type.h"

/* Where the number is. */
struct number_held {
        uint32_t bytes;
        bool extended;    /* by bits of zero when it was read */
        uint32_t general; /* registers, by their DWARF numbers */
        uint32_t vector;  /* by their own */
        bool in_memory;   /* it is what PLACE is */
        struct memory_operand place;
};

bool number_in_operand(const struct number_held *held, const struct flow_step *step,
                       const ZydisDecodedOperand *operand);

/* What STEP, number AT of CODE, shows, which is DECODED. */
enum access_number number_shown(const struct flow_code *code, size_t at,
                                const struct decoded *decoded,
                                const struct number_held *held);

/* Of the mask of vector registers the bit that OPERAND is; 0: it is none of them. */
uint32_t number_vector_bit(const ZydisDecodedOperand *operand);

#endif
