/* SPDX-License-Identifier: MIT */
/* Names that a module's symbols give to several functions. */
#ifndef MEMLAG_SYMBOLIZE_SYMBOL_NAMES_H
#define MEMLAG_SYMBOLIZE_SYMBOL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "hash_index.h"

/* Zero-initialised: empty. */
struct symbol_names {
        HASHED(struct symbol_name);
        LIST(const char *) links; /* mangled names, sorted by symbol_names_order() */
};

/* Adds a function's symbol at VADDR. The name ends before a point in NAME: a
 * compiler's suffix for copies and parts follows. FILE is the source file of a LOCAL
 * symbol, without directories (NULL: unknown). Texts must stay. 0 or -ENOMEM. */
int symbol_names_add(struct symbol_names *names, const char *name, uint64_t vaddr,
                     const char *file, bool local);
/* Once all are added, before the first question. */
void symbol_names_order(struct symbol_names *names);
void symbol_names_free(struct symbol_names *names);

/* Whether NAME, local to FILE (without directories), is in other files, too. */
bool symbol_names_elsewhere(const struct symbol_names *names, const char *name,
                            const char *file);
/* Whether several functions have symbols of that name. *ONE_FILE: their files have one
 * name, or no file is known. */
bool symbol_names_several(const struct symbol_names *names, const char *name,
                          bool *one_file);
/* Whether symbols name another C++ function that differs from the mangled LINK only by
 * its parameters and qualifiers. LINK may be NULL: false. */
bool symbol_names_overloaded(const struct symbol_names *names, const char *link);

#endif
