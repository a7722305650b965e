/* SPDX-License-Identifier: MIT */
/* Which registers an instruction reads and writes, and what it computes of them where
 * this is linear. Pure decoding. */
#ifndef MEMLAG_SYMBOLIZE_INSTRUCTION_VALUES_H
#define MEMLAG_SYMBOLIZE_INSTRUCTION_VALUES_H

#include "decoded.h"

/* Numbers of registers here, which are bits in masks: general registers have their DWARF
 * numbers. */
enum {
        VALUE_VECTORS = REGISTER_COUNT, /* and on: 32 vector registers */
        VALUE_FLAGS = VALUE_VECTORS + 32,
        VALUE_REGISTERS,
        /* The instruction's memory operand. */
        VALUE_MEMORY
};

struct value_term {
        uint8_t value;
        int64_t factor;
};

struct instruction_values {
        uint64_t reads;   /* that the results depend on; without the address */
        uint64_t address; /* of the memory operand */
        uint64_t writes;
        bool unknown; /* what is written depends on more than is read here */
        bool reads_memory;
        bool writes_memory;
        /* The only result is the sum of TERMS and CONSTANT. */
        bool linear;
        uint8_t term_count;
        struct value_term terms[2];
        int64_t constant;
};

/* The bit of the register that NAME is a part of; 0: of another kind, or none. */
uint64_t instruction_value(ZydisRegister name);

/* False: STEP of CODE cannot be read. */
bool instruction_values_read(struct instruction_values *values,
                             const struct flow_code *code, const struct flow_step *step);

#endif
