/* SPDX-License-Identifier: MIT */
/* Calls of C library functions that read memory at their arguments. The functions are
 * written in assembler: only the caller knows the type. */
#ifndef MEMLAG_SYMBOLIZE_MEMORY_FUNCTION_H
#define MEMLAG_SYMBOLIZE_MEMORY_FUNCTION_H

#include "flow_instruction.h"
#include "relocations.h"
#include "symbol_table.h"

enum memory_function {
        MEMORY_NONE,
        MEMORY_COPY,    /* reads at the second argument */
        MEMORY_COMPARE, /* reads at both arguments */
        MEMORY_SEARCH,  /* reads at the first argument */
        /* Reads nothing: calloc(), whose second argument is an item's size. */
        MEMORY_ALLOCATE_ITEMS
};

/* Whether NAME is FUNCTION or a version for some processors, as
 * "__memmove_avx_unaligned_erms" of "memmove". */
bool name_is_version(const char *name, const char *function);

/* The kind of the function NAME (NULL: none), or of a version for some processors. */
enum memory_function memory_function(const char *name);

/* The kind of function that CALL, in the file of SLOTS and SYMBOLS, calls. */
enum memory_function memory_function_called(const struct relocations *slots,
                                            const struct symbol_table *symbols,
                                            const struct instruction *call);

#endif
