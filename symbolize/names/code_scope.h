/* SPDX-License-Identifier: MIT */
/* Which function, class or namespace an entry is in. Only the scopes around the entry are
 * read, each once: a class has many functions, and few of them are asked about. */
#ifndef MEMLAG_SYMBOLIZE_CODE_SCOPE_H
#define MEMLAG_SYMBOLIZE_CODE_SCOPE_H

#include "die.h"
#include "hash_index.h"

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

/* *OUTER becomes the function, class or namespace around the entry DIE, which is one
 * itself. OUTER's addr is NULL if there is none. 0 or -ENOMEM. */
int code_scopes_outer(struct code_scopes *scopes, struct dwarf_file *dwarf,
                      const Dwarf_Die *die, Dwarf_Die *outer);

void code_scopes_free(struct code_scopes *scopes);

#endif
