/* SPDX-License-Identifier: MIT */
/* The kind of number, by one instruction that reads it from a register or memory.
 * Programs do nearly all integer operations on the bits of floating point, too: they
 * round, order, step, mask and hash them. */
#ifndef MEMLAG_SYMBOLIZE_NUMBER_SHOWN_H
#define MEMLAG_SYMBOLIZE_NUMBER_SHOWN_H

#include "decoded.h"
#include "type_access.h"

/* Where the number is. */
struct number_held {
        uint32_t bytes;
        bool extended;      /* by bits of zero when it was read */
        uint32_t general;   /* registers, by their DWARF numbers */
        uint32_t vector;    /* by their own */
        uint32_t crossed;   /* vector registers that were set from general ones */
        bool in_memory;     /* it is what PLACE is */
        bool place_crossed; /* and PLACE had it from one */
        struct memory_operand place;
};

bool number_in_operand(const struct number_held *held, const struct flow_step *step,
                       const ZydisDecodedOperand *operand);

struct number_fact {
        enum access_number number;
        bool perhaps_float;
        bool perhaps_several;
};

/* What step AT of CODE shows, which is DECODED. */
struct number_fact number_shown(const struct flow_code *code, size_t at,
                                const struct decoded *decoded,
                                const struct number_held *held);

/* Whether an instruction counts with numbers of floating point: not when it moves them or
 * mixes them with others, or changes their bits. */
bool number_is_real(const struct decoded *decoded);

/* Whether MNEMONIC makes floating point of integers. */
bool number_is_converted(ZydisMnemonic mnemonic);

/* OPERAND's bit in a mask of vector registers; 0: it is none. */
uint32_t number_vector_bit(const ZydisDecodedOperand *operand);

#endif
