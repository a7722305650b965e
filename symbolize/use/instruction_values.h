/* SPDX-License-Identifier: MIT */
/* The registers that an instruction reads and writes, and its result if that is a linear
 * function. Pure decoding. */
#ifndef MEMLAG_SYMBOLIZE_INSTRUCTION_VALUES_H
#define MEMLAG_SYMBOLIZE_INSTRUCTION_VALUES_H

#include "decoded.h"

/* Numbers of registers, used as bits in masks; general ones as in DWARF. */
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
        uint64_t reads;   /* for the results, not for the address */
        uint64_t address; /* of the memory operand */
        uint64_t writes;
        bool unknown; /* the result depends on more than the instruction reads here */
        bool reads_memory;
        bool writes_memory;
        /* The only result is the sum of TERMS and CONSTANT. */
        bool linear;
        uint8_t term_count;
        struct value_term terms[2];
        int64_t constant;
};

/* The bit of the register that contains NAME; 0: another kind of register, or none. */
uint64_t instruction_value(ZydisRegister name);

/* False: STEP of CODE cannot be read. */
bool instruction_values_read(struct instruction_values *values,
                             const struct flow_code *code, const struct flow_step *step);

#endif
