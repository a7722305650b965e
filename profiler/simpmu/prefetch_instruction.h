/* SPDX-License-Identifier: MIT */
/* Software prefetch instructions, decoded from their bytes: Valgrind translates them
 * to nothing. A pure function; knows neither Valgrind nor the model. */
#ifndef SIMPMU_PREFETCH_INSTRUCTION_H
#define SIMPMU_PREFETCH_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#define PREFETCH_NO_REGISTER (-1)

enum prefetch_into { PREFETCH_INTO_L1, PREFETCH_INTO_L2, PREFETCH_TO_WRITE };

/* The address is base + index * 2^index_shift + displacement; registers by their number
 * in instructions (0: rax, 4: rsp, 15: r15), PREFETCH_NO_REGISTER: none. */
struct prefetch_instruction {
        enum prefetch_into into;
        bool from_next; /* the base is the address of the next instruction */
        int base;
        int index;
        int index_shift;
        int32_t displacement;
};

/* The instruction of LENGTH BYTES, which are a whole one. False: it is no prefetch, or
 * one whose address needs a segment's base or 32-bit arithmetic. */
bool prefetch_instruction_decode(const uint8_t *bytes, uint32_t length,
                                 struct prefetch_instruction *prefetch);

#endif
