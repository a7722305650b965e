/* SPDX-License-Identifier: MIT */
/* Puts linkage names into the string pool. */
#ifndef MEMLAG_SYMBOLIZE_NAME_H
#define MEMLAG_SYMBOLIZE_NAME_H

#include <stdbool.h>

#include "hash_index.h"
#include "string_pool.h"

/* The readable form of a linkage name. */
uint32_t name_put_linkage(struct string_pool *names, const char *linkage_name);

/* A cache of names, keyed by the address of their source. Entries of debug information
 * share linkage names and origins, and a name takes long to make. For one pool only.
 * Zero-initialised: empty. */
struct linked_name {
        const void *from;
        uint32_t id;
        uint32_t function; /* its number; 0: none */
};

struct linked_names {
        HASHED(struct linked_name);
};

/* The name made from FROM, valid until the next addition; NULL: not known. */
const struct linked_name *linked_names_find(const struct linked_names *known,
                                            const void *from);
/* Without memory the name stays unknown. */
void linked_names_add(struct linked_names *known, const struct linked_name *name);
/* As name_put_linkage(). LINKAGE_NAME stays as long as KNOWN is in use. */
uint32_t linked_names_put(struct linked_names *known, struct string_pool *names,
                          const char *linkage_name);

/* The same for a symbol, which may end in a version ("stdout@GLIBC_2.2.5"). */
uint32_t name_put_symbol(struct string_pool *names, const char *symbol);

/* The name of a stub that jumps to FUNCTION: "puts@plt". */
uint32_t name_put_stub(struct string_pool *names, const char *function);

/* Whether SYMBOL is the linkage name of a C++ or Rust function. */
bool name_mangled(const char *symbol);

/* Whether SYMBOL names a thunk: it adjusts an object's pointer, or the returned
 * pointer, for a virtual function (Itanium C++ ABI, 5.1.4.2). */
bool name_of_thunk(const char *symbol);

/* The length of the function's name in SYMBOL: without the version, and without the
 * compiler's suffix for copies and parts (".constprop.0", ".cold"). */
size_t name_length(const char *symbol);
/* The result of READ, a demangler, for that name; NULL: it fails. The caller frees it. */
char *name_read(const char *symbol, char *(*read)(const char *));

/* The same for a mangled SYMBOL that may name a split part of a function: the
 * function's name, without ".cold" or ".part.0". */
uint32_t name_put_part(struct string_pool *names, const char *symbol);

/* Names of C++, Rust and Fortran functions and variables as their authors wrote them. */

/* The readable form of a linkage name, without parameters; the caller frees it. NULL when
 * NAME is not a mangled name, or memory is short. */
char *demangle(const char *name);
/* The same with the types of a C++ function's parameters and its qualifiers
 * ("at(unsigned long) const"). */
char *demangle_signature(const char *name);

#endif
