/* SPDX-License-Identifier: MIT */
/* The types of the variables at fixed addresses that one compilation unit defines, or
 * declares and another unit defines. Also the return types of the unit's functions. */
#ifndef MEMLAG_SYMBOLIZE_GLOBALS_H
#define MEMLAG_SYMBOLIZE_GLOBALS_H

#include "die_type.h"
#include "memory_function.h"
#include "symbol_table.h"

struct global;

struct global_function;
struct globals {
        struct type_reader *reader;
        const struct symbol_table *symbols;
        const struct relocations *slots;
        const struct elf_file *file;
        const void *unit; /* the unit of the variables; NULL: none yet */
        LIST(struct global);
        LIST(struct global_function) functions;
};

/* Reads the variables of the unit that contains ENTRY, for the questions below. 0 or
 * -ENOMEM. */
int globals_of_unit(struct globals *globals, Dwarf_Die *entry);

/* The type of the variable at VADDR and the offset in it; TYPE_NONE: not known. */
uint32_t globals_type(const struct globals *globals, uint64_t vaddr,
                      uint64_t *offset_bytes);

/* The name of that variable; 0: not known. */
uint32_t globals_name(const struct globals *globals, uint64_t vaddr);

/* The return type of the unit's function that begins at VADDR; TYPE_NONE: not known,
 * or void. */
uint32_t globals_return_type(const struct globals *globals, uint64_t vaddr);

/* Whether that function is, or may be, several functions of the source. Linkers keep one
 * of several equal functions (ICF). Debug information then describes only that one, or
 * all of them at its address. */
bool globals_folded(const struct globals *globals, uint64_t vaddr);

/* Its name; 0: not known. */
uint32_t globals_function_name(const struct globals *globals, uint64_t vaddr);

void globals_free(struct globals *globals);

#endif
