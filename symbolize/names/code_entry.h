/* SPDX-License-Identifier: MIT */
/* Names of functions in debug information's entries and symbols, and the properties
 * that distinguish functions of one name. */
#ifndef MEMLAG_SYMBOLIZE_CODE_ENTRY_H
#define MEMLAG_SYMBOLIZE_CODE_ENTRY_H

#include "code_names.h"
#include "die.h"
#include "hash_index.h"
#include "name.h"

/* Only the scopes around an entry are read, each once: a class has many functions, and
 * few of them are asked about. */

/* A unit or scope, and the scopes directly inside it. */
struct code_scope {
        const void *start;
        size_t first;
        size_t end;
};

/* Zero-initialised: empty. */
struct code_scopes {
        LIST(Dwarf_Die); /* those inside one scope are in the order of their addresses */
        HASHED(struct code_scope) known;
};

/* The sources and the destination of answers. */
struct code_reader {
        struct dwarf_file *dwarf; /* NULL: none */
        const struct elf_file *file;
        const struct symbol_table *symbols;
        struct string_pool *names;
        struct linked_names *linked; /* entries' names within NAMES */
        struct code_frames *frames;  /* its functions include those of LINKED */
};

/* The unit of the entries. */
struct code_entries {
        const struct code_reader *with;
        Dwarf_Die die;
        Dwarf_Die entries;     /* the parent of the unit's entries */
        const char *source;    /* the unit's name; NULL: none */
        const char *directory; /* it was compiled in; NULL: not known */
        struct line_table lines;
        uint32_t *files; /* names of the table's files, read on demand; 0: not yet */
        bool no_memory;  /* for some name of a file */
        bool cplusplus;
        bool links_external; /* other files know every linkage name */
        struct code_scopes scopes;
};

/* A function's name in the pool (0: it has none), and its number in the reader's
 * functions (0: none). */
struct code_name {
        uint32_t name;
        uint32_t number;
};

/* Of the entry DIE, INLINED or with the code that is at VADDR, of a class inside a
 * function where LOCAL. 0 or -ENOMEM, as below. */
int code_entry_name(struct code_entries *entries, Dwarf_Die *die, bool inlined,
                    bool local, uint64_t vaddr, struct code_name *name);

/* Frees the caches of names, and the lines. */
void code_entries_free(struct code_entries *entries);

/* Of the function that a symbol says is at VADDR. */
int code_symbol_name(const struct code_reader *reader, uint64_t vaddr,
                     struct code_name *name);

#endif
