/* SPDX-License-Identifier: MIT */
/* The effect of one x86-64 instruction on memory and general registers, for data flow of
 * pointers. Pure decoding: knows no programs and no types. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_INSTRUCTION_H
#define MEMLAG_SYMBOLIZE_FLOW_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers have their DWARF numbers (System V ABI, AMD64 supplement, figure 3.36). */
enum {
        REGISTER_RAX = 0,
        REGISTER_RCX = 2,
        REGISTER_RSI = 4,
        REGISTER_RDI = 5,
        REGISTER_RBP = 6,
        REGISTER_RSP = 7,
        REGISTER_COUNT = 16,
        REGISTER_OTHER = 16, /* a vector register as index, or an unknown one */
        REGISTER_NONE = 17
};

/* The registers that a call need not preserve (System V ABI, AMD64 supplement, 3.2.1). */
enum { CALL_CLOBBERED = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 0xf << 8 };

enum operation {
        OPERATION_NOTHING,        /* fills a gap */
        OPERATION_OTHER,          /* WRITTEN has its effect on registers */
        OPERATION_MOVE,           /* destination = source */
        OPERATION_CHOOSE,         /* destination = destination or source */
        OPERATION_CHOOSE_LOAD,    /* destination = destination or 8 bytes of memory */
        OPERATION_CONSTANT,       /* destination = immediate */
        OPERATION_LOAD,           /* destination = 8 bytes of memory */
        OPERATION_STORE_CONSTANT, /* 8 bytes of memory = immediate */
        OPERATION_STORE,          /* 8 bytes of memory = source */
        OPERATION_ADDRESS,        /* destination = the operand's address (lea) */
        OPERATION_ADD,            /* destination += source */
        OPERATION_SUBTRACT,       /* destination -= source */
        OPERATION_ADD_LOAD,       /* destination += 8 bytes of memory */
        OPERATION_ADD_CONSTANT,
        OPERATION_OR_CONSTANT,
        OPERATION_ADD_HALF,   /* destination = the lower half of source + immediate */
        OPERATION_SHIFT_LEFT, /* by the immediate */
        OPERATION_MULTIPLY,   /* destination = source * immediate */
        OPERATION_ALIGN,      /* destination rounded down */
        OPERATION_PUSH,       /* source; REGISTER_NONE: immediate */
        OPERATION_POP,
        OPERATION_CALL,
        OPERATION_JUMP,          /* to TARGET */
        OPERATION_BRANCH,        /* to TARGET or on */
        OPERATION_JUMP_INDIRECT, /* to anywhere */
        OPERATION_END            /* return or trap: nothing follows */
};

struct memory_operand {
        uint8_t base; /* REGISTER_NONE: none */
        uint8_t index;
        uint8_t scale;
        bool thread_local; /* relative to the thread pointer (fs) */
        /* Absolute if there is no base. RIP-relative operands become absolute. */
        int64_t displacement;
};

struct instruction {
        uint8_t length_bytes;
        enum operation operation;
        uint8_t destination;
        uint8_t source;
        uint32_t written;  /* mask of general registers that change in any way */
        uint32_t modified; /* written registers whose new value depends on the old one */
        uint32_t numbers;  /* written registers that hold no address afterwards */
        int64_t immediate;
        uint64_t target; /* of a direct jump, branch or call; 0: none */
        bool has_memory;
        struct memory_operand memory;
        uint32_t access_bytes; /* read or written there; 0: only an address */
        bool writes_memory;
        bool copies;   /* copies to RDI's target */
        bool vector;   /* several numbers at once, of any kind */
        bool repeated; /* by a prefix, from the operand on */
};

/* Decodes the instruction at VADDR from COUNT BYTES. False: there is none. */
bool instruction_decode(struct instruction *instruction, const uint8_t *bytes,
                        size_t count, uint64_t vaddr);

/* The general register that contains NAME, one of Zydis' registers. REGISTER_NONE for
 * none, REGISTER_OTHER for others. */
uint8_t instruction_register(unsigned name);

#endif
