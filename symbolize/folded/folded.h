/* SPDX-License-Identifier: MIT */
/* Whether one code stands for several functions of the source. Compilers and linkers keep
 * one of several equal functions. Debug information describes only that one, or all at
 * its address. */
#ifndef MEMLAG_SYMBOLIZE_FOLDED_H
#define MEMLAG_SYMBOLIZE_FOLDED_H

#include "die.h"
#include "symbol_table.h"

struct unit_function;

/* The functions that one unit defines, which is read again only after another one. */
struct unit_functions {
        struct dwarf_file *dwarf;
        const struct elf_file *file;
        const void *unit; /* address of its entry; NULL: none yet */
        struct unit_function *items;
        size_t count;
        size_t capacity;
};

/* The entries that the functions of one unit come from, with the functions inlined into
 * them, in order. A program optimised as a whole has these entries in other units. */
struct unit_origins {
        struct dwarf_file *dwarf;
        const void *unit; /* as above */
        uint64_t *items;  /* addresses of entries */
        size_t count;
        size_t capacity;
};

struct folded {
        struct unit_functions functions;
        struct unit_origins origins;
        const struct symbol_table *symbols; /* of FUNCTIONS' file */
        bool by_linker;     /* it may have folded functions of any units */
        uint64_t looked_at; /* of FUNCTIONS */
};

/* Whether the linker of FILE, whose debug information is from DEBUG, may have folded
 * functions. */
bool folded_by_linker(const struct elf_file *file, const struct elf_file *debug);

/* *FOLDED: whether FUNCTION, an entry with code of FILE, is, or may be. 0 or -ENOMEM. */
int folded_function(struct folded *search, Dwarf_Die *function, bool *folded);
void folded_free(struct folded *search);

#endif
