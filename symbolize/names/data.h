/* SPDX-License-Identifier: MIT */
/* The name of an address in a file's data: the global or static variable. */
#ifndef MEMLAG_SYMBOLIZE_DATA_H
#define MEMLAG_SYMBOLIZE_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "die_type.h"
#include "string_pool.h"
#include "symbol_table.h"

/* The contents of an address without a known variable. */
enum data_unnamed {
        DATA_ANYTHING,
        DATA_CONSTANT, /* compilers' constants: texts, numbers, tables of jumps */
        DATA_LINKAGE   /* linkers' data, as addresses of other files' functions */
};

struct data_place {
        /* The question: an address, or ELF_THREAD_LOCAL and an offset in the
         * thread-local memory. The rest is the answer. */
        uint64_t vaddr;
        uint64_t start; /* the variable's (or section's) first address */
        uint64_t size_bytes;
        uint32_t name; /* a variable in a function is "function::variable" */
        uint32_t type; /* TYPE_NONE: not known */
        bool named_by_symbol;
        bool variable;             /* false: NAME is a section's, or 0 */
        enum data_unnamed unnamed; /* if NAME is a section's */
};

/* Answers PLACES, COUNT addresses of FILE. SYMBOLS and the debug information of READER
 * (NULL: none) belong to FILE. The order of PLACES changes. 0 or -ENOMEM. */
int data_find(struct type_reader *reader, const struct elf_file *file,
              const struct symbol_table *symbols, struct data_place **places,
              size_t count, struct string_pool *names);

#endif
