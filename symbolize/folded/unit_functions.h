/* SPDX-License-Identifier: MIT */
/* The functions that the units of a program define, each unit read once, when it is first
 * asked for. */
#ifndef MEMLAG_SYMBOLIZE_UNIT_FUNCTIONS_H
#define MEMLAG_SYMBOLIZE_UNIT_FUNCTIONS_H

#include "die.h"
#include "elf_file.h"

struct unit_function {
        Dwarf_Die die;
        Dwarf_Addr vaddr; /* where it is entered, if it HAS_CODE */
        bool has_code;
        bool codeless; /* the compiler left no code, though it is not inline */
        bool named;    /* the names were read */
        const char *linkage;
        const char *source;
};

/* Its functions are the items from FIRST up to END. */
struct unit_range {
        const void *addr; /* of its entry */
        size_t first;
        size_t end;
};

struct unit_functions {
        struct dwarf_file *dwarf;
        const struct elf_file *file;
        struct unit_function *items; /* of all units that were read */
        size_t count;
        size_t capacity;
        struct unit_range *units; /* in order of address */
        size_t unit_count;
        size_t unit_capacity;
};

/* Where FUNCTION is entered. Returns whether it has code. */
bool unit_functions_entry(const struct unit_functions *functions, Dwarf_Die *function,
                          Dwarf_Addr *entry);

/* *FOUND: the functions of the unit that DIE is in. 0 or -ENOMEM. */
int unit_functions_read(struct unit_functions *functions, Dwarf_Die *die,
                        struct unit_range *found);

/* Whether SYMBOL names FUNCTION, a copy or a version. */
bool unit_function_is_called(struct dwarf_file *dwarf, struct unit_function *function,
                             const char *symbol);

void unit_functions_free(struct unit_functions *functions);

#endif
