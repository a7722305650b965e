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
 * the samples need few. */

/* A unit or scope, and the scopes directly inside it. */
struct code_scope {
        const void *start;
        size_t first;
        size_t end;
};

/* Zero-initialised: empty. */
struct code_scopes {
        LIST(Dwarf_Die); /* the scopes inside one scope are sorted by address */
        HASHED(struct code_scope) known;
};

/* The sources and the destination of answers. */
struct code_reader {
        struct dwarf_file *dwarf; /* NULL: none */
        const struct elf_file *file;
        const struct symbol_table *symbols;
        struct string_pool *names;
        struct linked_names *linked; /* entries' names within NAMES */
        struct code_frames *frames;  /* its functions include LINKED's */
};

/* The unit of the entries. */
struct code_entries {
        const struct code_reader *with;
        Dwarf_Die die;
        Dwarf_Die entries;     /* the parent of the unit's entries */
        const char *source;    /* the unit's name; NULL: none */
        const char *directory; /* of its compilation; NULL: not known */
        struct line_table lines;
        uint32_t *files; /* names of the table's files, read on demand; 0: not yet */
        bool no_memory;  /* for the name of some file */
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

/* Names the entry DIE, INLINED or with code at VADDR. LOCAL: its class is inside a
 * function. 0 or -ENOMEM, as below. */
int code_entry_name(struct code_entries *entries, Dwarf_Die *die, bool inlined,
                    bool local, uint64_t vaddr, struct code_name *name);

/* Frees the caches of names, and the lines. */
void code_entries_free(struct code_entries *entries);

/* Names the function by its symbol at VADDR. */
int code_symbol_name(const struct code_reader *reader, uint64_t vaddr,
                     struct code_name *name);

#endif
