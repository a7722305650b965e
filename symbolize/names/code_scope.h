/* SPDX-License-Identifier: MIT */
/* Which function or class an entry is in. That is only found out where names need it, by
 * going over the part of the unit that the entry is in. */
#ifndef MEMLAG_SYMBOLIZE_CODE_SCOPE_H
#define MEMLAG_SYMBOLIZE_CODE_SCOPE_H

#include "die.h"
#include "hash_index.h"

/* The entry of a function or class, and the one that it is in. */
struct code_scope {
        Dwarf_Die die;
        uint32_t parent; /* index + 1; 0: none */
};

/* Entries from START up to the next noted one, whose scopes are known. */
struct code_part {
        const char *start;
        size_t first; /* of its scopes */
        size_t end;
};

/* Zero-initialised: empty. */
struct code_scopes {
        struct code_scope *items; /* those of a part in the order of its entries */
        size_t count;
        size_t capacity;
        struct code_part *parts;
        size_t part_count;
        size_t part_capacity;
        struct hash_index starts; /* of the parts */
        const char **noted;       /* entries that divide the unit into parts */
        size_t noted_count;
        size_t noted_capacity;
};

/* Notes a function or class that is in no other one. Those of a unit are noted in the
 * order of its entries and before the first question; which are left out costs time only.
 * 0 or -ENOMEM. */
int code_scopes_note(struct code_scopes *scopes, const Dwarf_Die *die);

/* That of the entry DIE, of the unit at ROOT or of another one, nothing of which is
 * noted; NULL: it is none. *SCOPE stays until the next call. 0 or -ENOMEM. */
int code_scopes_find(struct code_scopes *scopes, struct dwarf_file *dwarf,
                     const Dwarf_Die *root, const Dwarf_Die *die,
                     const struct code_scope **scope);

/* What SCOPE is in; NULL: in none. */
const struct code_scope *code_scope_outer(const struct code_scopes *scopes,
                                          const struct code_scope *scope);

void code_scopes_free(struct code_scopes *scopes);

#endif
