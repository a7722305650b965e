/* SPDX-License-Identifier: MIT */
/* The name of an address of code: function, line and the functions inlined there.
 * Names are numbers of a string pool. */
#ifndef MEMLAG_SYMBOLIZE_CODE_NAMES_H
#define MEMLAG_SYMBOLIZE_CODE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "die.h"
#include "function_names.h"
#include "string_pool.h"
#include "symbol_table.h"

struct code_frame {
        uint32_t function;
        uint32_t number;    /* of the function in code_frames; 0: none */
        uint32_t call_file; /* where the next outer function calls it */
        uint32_t call_line;
        uint32_t call_column; /* 0: unknown */
};

struct code_frames {
        LIST(struct code_frame);
        struct named_functions functions;
};

struct code_place {
        uint64_t vaddr;        /* the question; all others but SAMPLED are the answer */
        bool sampled;          /* it has samples: its instruction is wanted */
        uint32_t function;     /* innermost, inlined or not; 0: unknown */
        uint32_t number;       /* of FUNCTION in code_frames; 0: none */
        uint32_t file;         /* 0: unknown */
        uint32_t line;         /* 0: unknown */
        uint32_t column;       /* 0: unknown */
        bool lineless;         /* the compiler gave no line; FILE declares FUNCTION */
        bool unread;           /* no line, because reading was too costly */
        bool inlined_lost;     /* the name is in a missing alternate file */
        bool assembler;        /* the unit's language, which describes no functions */
        bool thunk;            /* only a symbol names it: a virtual function's thunk */
        bool has_start;        /* FUNCTION is 0, but its start is known: */
        uint64_t start;        /* its address in the file */
        uint32_t instruction;  /* its text; 0: unknown */
        uint32_t access_bytes; /* of its memory access; 0: none, or unknown */
        uint32_t frame_count;  /* 0: nothing is inlined there */
        size_t first_frame;    /* in code_frames, innermost first */
        /* The entry of the function with the machine code, while the module's debug
         * information is open. Its addr is NULL if there is none. */
        Dwarf_Die function_die;
};

/* The label that distinguishes function NUMBER from others named FUNCTION. */
uint32_t code_label(const struct code_frames *frames, uint32_t function, uint32_t number);
void code_frames_free(struct code_frames *frames);

/* Answers PLACES, COUNT addresses of the file of DWARF (NULL: none) and SYMBOLS. Names go
 * into NAMES, inlined functions into FRAMES. 0 or -ENOMEM. */
int code_find(struct dwarf_file *dwarf, const struct elf_file *file,
              const struct symbol_table *symbols, struct code_place **places,
              size_t count, struct string_pool *names, struct code_frames *frames);

/* Reads the sampled instructions of PLACES, COUNT addresses of FILE. Texts go into
 * NAMES. Invalid instructions, and addresses outside the file, stay unresolved. 0 or
 * -ENOMEM. */
int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names);

#endif
