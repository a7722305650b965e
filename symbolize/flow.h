/* SPDX-License-Identifier: MIT */
/* What the registers of a function point to at an instruction: DWARF's word where there
 * is one, else followed from there through moves, loads of pointers and sums, over all
 * ways that lead to the instruction. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_H
#define MEMLAG_SYMBOLIZE_FLOW_H

#include "elf_file.h"
#include "instruction.h"
#include "variables.h"

enum place_kind {
        PLACE_UNKNOWN, /* nothing is known of the address */
        PLACE_POINTER, /* OFFSET bytes into a TYPE */
        PLACE_FRAME,   /* OFFSET bytes from the function's CFA */
        PLACE_ALIGNED, /* from where the stack pointer was rounded down to */
        PLACE_ADDRESS, /* the file's virtual address OFFSET */
        PLACE_THREAD,  /* OFFSET bytes from the thread pointer */
        /* No address: the number OFFSET, plus any multiple of STRIDE_BYTES. */
        PLACE_NUMBER,
        PLACE_RESULT, /* what the call that is asked about returned, plus OFFSET */
        PLACE_UNREACHED
};

/* Where something points. */
struct place_value {
        enum place_kind kind;
        bool indexed; /* plus any multiple of what repeats there */
        bool guessed; /* plus an index that need not be such a multiple */
        uint32_t type;
        int64_t offset;
        uint64_t stride_bytes; /* of the index; for a TYPE, that has been compared */
};

/* Where in its type the place of a POINTER is: of an array's items, in any of them. A
 * pointer to a number may always be one to several. */
uint64_t place_offset(const struct types *types, const struct place_value *place);

enum flow_outcome {
        FLOW_FOUND,
        FLOW_NO_INSTRUCTION, /* there is none at that address of the function */
        FLOW_NO_OPERAND,     /* it does not access memory */
        FLOW_UNKNOWN_BASE,   /* what its base register holds is not known */
        FLOW_TOO_LARGE       /* the function is too large, or its ways too many */
};

enum flow_question {
        /* The memory operand of the instruction. */
        FLOW_OPERAND,
        /* What the pointer that the call returns is taken for afterwards: PLACE, the
         * largest type of a variable that holds it, or of a pointer in memory that it is
         * stored to; UNKNOWN when there is none. */
        FLOW_RESULT,
        /* The variable of the frame that is CFA_OFFSET_BYTES from the CFA. */
        FLOW_FRAME
};

struct flow_answer {
        enum flow_question question;
        uint64_t vaddr; /* of the instruction; of a call, any of its bytes */
        int64_t cfa_offset_bytes;
        enum flow_outcome outcome;
        struct place_value place;
        struct type_access access;
        bool restores; /* of an OPERAND: it takes back what a call or push has saved */
        bool returned; /* of a RESULT: the function returns it in its turn */
        /* The variable of the frame that the place is in; type TYPE_NONE: none. */
        struct frame_variable variable;
        int64_t variable_offset; /* of the place in it */
};

/* The type of the variable at an address of the file, and its offset in the variable;
 * TYPE_NONE: not known. */
typedef uint32_t flow_global(void *context, uint64_t vaddr, uint64_t *offset_bytes);

struct flow_input {
        struct type_reader *reader;
        const struct elf_file *file;
        Dwarf_Die *function;
        flow_global *global;
        void *global_context;
};

/* Answers ANSWERS, COUNT addresses of one function, in their order of address. 0 or
 * -ENOMEM. */
int flow_function(const struct flow_input *input, struct flow_answer *answers,
                  size_t count);

#endif
