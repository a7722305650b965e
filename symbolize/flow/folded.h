/* SPDX-License-Identifier: MIT */
/* Whether a function is several of the source: compilers and linkers keep one of those
 * that have the same instructions, and debug information describes the one, or each at
 * that address. */
#ifndef MEMLAG_SYMBOLIZE_FOLDED_H
#define MEMLAG_SYMBOLIZE_FOLDED_H

#include "die.h"
#include "elf_file.h"
#include "symbol_table.h"
#include "unit_starts.h"

struct folded_definition;
struct folded_unit;
struct signature;

struct folded {
        struct dwarf_file *dwarf;
        const struct elf_file *file;
        const struct symbol_table *symbols; /* of FILE */
        const struct unit_starts *starts;   /* of DWARF; NULL: not known */
        bool by_linker;            /* it may have folded functions of any units */
        struct folded_unit *units; /* that were read, in order of address */
        size_t unit_count;
        size_t unit_capacity;
        struct folded_definition *items; /* of all these */
        size_t count;
        size_t capacity;
        uint64_t looked_at; /* of the items */
        const void **used;  /* entries whose code is described in other units, sorted */
        size_t used_count;
        size_t used_capacity;
        bool used_read;
        struct signature *lost; /* of functions without code that are not used */
        size_t lost_count;
        size_t lost_capacity;
        bool lost_read;
};

/* Whether the linker of FILE, whose debug information is that of DEBUG, may have. */
bool folded_by_linker(const struct elf_file *file, const struct elf_file *debug);

/* *FOLDED: whether FUNCTION, an entry with code of FILE, is. 0 or -ENOMEM. */
int folded_function(struct folded *search, Dwarf_Die *function, bool *folded);
void folded_free(struct folded *search);

#endif
