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
        uint32_t call_file; /* where the next outer function calls this one */
        uint32_t call_line;
        uint32_t call_column; /* 0: unknown */
};

struct code_frames {
        LIST(struct code_frame);
        struct named_functions functions;
};

struct code_place {
        uint64_t vaddr;    /* the question; the rest but for the next is the answer */
        bool sampled;      /* samples are there: its instruction is wanted */
        uint32_t function; /* innermost, inlined or not; 0: unknown */
        uint32_t number;   /* of that in code_frames; 0: none */
        uint32_t file;     /* 0: unknown */
        uint32_t line;     /* 0: unknown */
        uint32_t column;   /* 0: unknown */
        bool lineless;     /* the compiler says: of no line; FILE declares FUNCTION */
        bool unread;       /* too costly: no line, as that was not read */
        bool inlined_lost; /* a function inlined there is in dwz's file, which is gone */
        bool assembler;    /* the unit is written in: it describes no functions */
        bool thunk;        /* a symbol alone names it, as a virtual function's */
        bool has_start;    /* FUNCTION is 0, but where it begins is known: */
        uint64_t start;    /* its address in the file */
        uint32_t instruction;  /* its text; 0: unknown */
        uint32_t access_bytes; /* of memory, by that; 0: none, or unknown */
        uint32_t frame_count;  /* 0: nothing is inlined there */
        size_t first_frame;    /* in code_frames, innermost first */
        /* The entry of the machine code's function, while the module's debug
         * information is open; addr is NULL where there is none. */
        Dwarf_Die function_die;
};

/* The distinction of FUNCTION from others of its name in the module: the label of
 * NUMBER. */
uint32_t code_label(const struct code_frames *frames, uint32_t function, uint32_t number);
void code_frames_free(struct code_frames *frames);

/* Answers PLACES, COUNT addresses of the file that DWARF (NULL: none) and SYMBOLS
 * belong to. Names go into NAMES, inlined functions into
 * FRAMES. 0 or -ENOMEM. */
int code_find(struct dwarf_file *dwarf, const struct elf_file *file,
              const struct symbol_table *symbols, struct code_place **places,
              size_t count, struct string_pool *names, struct code_frames *frames);

/* Reads the sampled instructions of PLACES, COUNT addresses of FILE. Texts go into
 * NAMES. Invalid instructions, and addresses outside the file, stay unresolved. 0 or
 * -ENOMEM. */
int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names);

#endif
