/* SPDX-License-Identifier: MIT */
/* The targets of a function's registers at an instruction. DWARF gives them where it
 * names a variable. Otherwise data flow gives them, through moves, loads and sums, over
 * all paths to the instruction. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_H
#define MEMLAG_SYMBOLIZE_FLOW_H

#include "address_pattern.h"
#include "elf_file.h"
#include "globals.h"
#include "place_value.h"
#include "thread_slots.h"
#include "type_access.h"
#include "variables.h"

enum flow_outcome {
        FLOW_FOUND,
        FLOW_NO_INSTRUCTION, /* there is none at that address of the function */
        FLOW_NO_OPERAND,     /* it does not access memory */
        FLOW_UNKNOWN_BASE,   /* its base register's value is not known */
        FLOW_TOO_LARGE,      /* the function is too large, or has too many paths */
        FLOW_NOT_DECODED     /* not all of the function could be read and decoded */
};

enum flow_question {
        /* The memory operand of the instruction. */
        FLOW_OPERAND,
        /* The use of the pointer that the call returns. PLACE: the largest type of a
         * variable that holds it, or of a pointer in memory that receives it; UNKNOWN if
         * there is none. */
        FLOW_RESULT,
        /* The memory that the called function reads. PLACE, if its pointer is known. */
        FLOW_ARGUMENT,
        /* The variable at CFA_OFFSET_BYTES from the CFA. */
        FLOW_FRAME
};

struct flow_answer {
        enum flow_question question;
        uint64_t vaddr; /* of the instruction; of a call, any of its bytes */
        int64_t cfa_offset_bytes;
        enum flow_outcome outcome;
        struct place_value place;
        /* The name of the pointer that gives the type; 0: unknown, or several do. */
        uint32_t pointer;
        struct type_access access;
        struct address_pattern pattern; /* of an OPERAND */
        bool traced;   /* the question: the state of the analysis is printed */
        bool lineless; /* the instruction has no line, as merged code */
        bool folded;   /* of an OPERAND: its function is, see flow_context */
        bool restores; /* of an OPERAND: it restores a value of a call or push */
        bool returned; /* of a RESULT: the function returns it, too */
        /* Of a RESULT: the item size of an array that calloc() or an allocator of C++'s
         * library is asked for. 0: no array, or not known. For calloc() the size must be
         * constant and the count may not be known to be at most 1. */
        uint64_t item_bytes;
        enum memory_function called; /* of an ARGUMENT */
        /* The variable that contains PLACE: of the frame, or thread-local (its OFFSET is
         * then its address). Type TYPE_NONE: none. */
        struct frame_variable variable;
        int64_t variable_offset; /* of PLACE in the variable; with an index, the distance
                                    from a thread-local one to PLACE */
};

/* Constant in a function. */
struct flow_context {
        struct type_reader *reader;
        const struct types *types; /* READER's */
        const struct elf_file *file;
        const struct thread_slots *slots; /* of FILE */
        Dwarf_Die *function;
        bool folded; /* FUNCTION is several source functions: its variables are unknown */
        struct globals *globals; /* of FUNCTION's unit */
        const struct variables *variables;
        const struct flow_code *code;
        bool counts_from_one;        /* arrays of its language begin with item 1 */
        bool has_absolute_addresses; /* the file is loaded at its own addresses */
};

#endif
