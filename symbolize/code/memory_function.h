/* SPDX-License-Identifier: MIT */
/* Functions of the C library that read memory at their arguments, and calls of them. They
 * are written in assembler: only the caller knows the type. */
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
        /* Reads nothing: calloc(), whose second argument is the size of an item. Of calls
         * only. */
        MEMORY_ALLOCATE_ITEMS
};

/* Whether NAME is FUNCTION, or one of its versions for some processors, such as
 * "__memmove_avx_unaligned_erms" of "memmove". */
bool name_is_version(const char *name, const char *function);

/* Which kind of function NAME (NULL: none) is of, or one of its versions for some
 * processors, such as "__memmove_avx_unaligned_erms". */
enum memory_function memory_function(const char *name);

/* What kind of function CALL, of the file of SLOTS and SYMBOLS, is of. */
enum memory_function memory_function_called(const struct relocations *slots,
                                            const struct symbol_table *symbols,
                                            const struct instruction *call);

#endif
