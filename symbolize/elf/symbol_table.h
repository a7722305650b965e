/* SPDX-License-Identifier: MIT */
/* The functions and data objects that an ELF file's symbol tables name. */
#ifndef MEMLAG_SYMBOLIZE_SYMBOL_TABLE_H
#define MEMLAG_SYMBOLIZE_SYMBOL_TABLE_H

#include "elf_file.h"
#include "range_map.h"
#include "symbol_names.h"

struct symbol {
        uint64_t vaddr;      /* of a thread-local symbol: offset, and ELF_THREAD_LOCAL */
        uint64_t size_bytes; /* 0: the table does not say */
        const char *name;    /* owned by the ELF file it was read from; may be mangled */
        uint8_t rank;        /* of names for one thing, the highest is shown */
        bool function;
        bool stub;        /* of the linkage table: jumps to the function of that name */
        bool local;       /* known only in its source file */
        const char *file; /* source file of a local one; owned as NAME. NULL: unknown */
        uint32_t order;   /* in the tables */
};

struct symbol_table {
        struct symbol *symbols;
        size_t count;
        size_t capacity;
        bool complete; /* has local names, too, not only names for dynamic linking */
        struct range_map functions; /* value: index in symbols */
        struct range_map objects;
        struct symbol_names names; /* of functions */
        Elf *mini_debug;           /* symbols that were packed; NULL: none */
        char *mini_image;
};

/* Reads the symbols of FILE, and of DEBUG (its separate debug file, or NULL) if FILE
 * has been stripped. Both must stay open while TABLE is used. A damaged table gives
 * its readable symbols. 0 or -ENOMEM. */
int symbol_table_read(struct symbol_table *table, const struct elf_file *file,
                      const struct elf_file *debug);
void symbol_table_free(struct symbol_table *table);

/* The function or the object at VADDR, or NULL. */
const struct symbol *symbol_table_function(const struct symbol_table *table,
                                           uint64_t vaddr);
const struct symbol *symbol_table_object(const struct symbol_table *table,
                                         uint64_t vaddr);

#endif
