/* SPDX-License-Identifier: MIT */
/* Which function, class or namespace an entry is in. That is only found out where names
 * need it, of all entries of a unit at once. */
#ifndef MEMLAG_SYMBOLIZE_CODE_SCOPE_H
#define MEMLAG_SYMBOLIZE_CODE_SCOPE_H

#include "die.h"
#include "hash_index.h"

/* The entry of a function, class or namespace, and its enclosing scope. */
struct code_scope {
        Dwarf_Die die;
        uint32_t parent; /* index + 1; 0: none that was read */
};

/* A unit whose scopes are known. */
struct code_scope_unit {
        const void *start;
        size_t first; /* of its scopes */
        size_t end;
};

/* Zero-initialised: empty. */
struct code_scopes {
        struct code_scope *items; /* a unit's scopes are in the order of its entries */
        size_t count;
        size_t capacity;
        struct code_scope_unit *units;
        size_t unit_count;
        size_t unit_capacity;
        struct hash_index index; /* of the units */
};

/* *OUTER becomes the function, class or namespace around the entry DIE, which is one
 * itself. OUTER's addr is NULL if there is none. 0 or -ENOMEM. */
int code_scopes_outer(struct code_scopes *scopes, struct dwarf_file *dwarf,
                      const Dwarf_Die *die, Dwarf_Die *outer);

void code_scopes_free(struct code_scopes *scopes);

#endif
