/* SPDX-License-Identifier: MIT */
/* Which function, class or namespace an entry is in. That is only found out where names
 * need it, by going over the function or class that the entry is in. */
#ifndef MEMLAG_SYMBOLIZE_CODE_SCOPE_H
#define MEMLAG_SYMBOLIZE_CODE_SCOPE_H

#include "die.h"
#include "hash_index.h"

/* The entry of a function, class or namespace, and its enclosing scope. */
struct code_scope {
        Dwarf_Die die;
        uint32_t parent; /* index + 1; 0: none that was read */
};

/* Entries from START up to some end, whose scopes are known. */
struct code_part {
        const char *start;
        size_t first; /* of its scopes */
        size_t end;
};

/* A namespace, up to its end. */
struct code_space {
        const char *start;
        const char *end; /* NULL: the unit's end */
        uint32_t parent; /* index + 1 of the one around; 0: none */
};

/* Zero-initialised: empty. */
struct code_scopes {
        struct code_scope *items; /* a part's scopes are in the order of its entries */
        size_t count;
        size_t capacity;
        struct code_part *parts;
        size_t part_count;
        size_t part_capacity;
        struct hash_index starts; /* of the parts */
        const char **noted;       /* functions and classes in no other one */
        size_t noted_count;
        size_t noted_capacity;
        struct code_space *spaces; /* in the order of their entries */
        size_t space_count;
        size_t space_capacity;
};

/* Notes an outermost function or class. The scopes of a unit are noted in the order of
 * its entries and before the first query. A missing scope only costs time. 0 or
 * -ENOMEM. */
int code_scopes_note(struct code_scopes *scopes, const Dwarf_Die *die);
/* The same for a namespace, whose sibling begins at END. NULL: it ends with the
 * enclosing namespace or the unit. */
int code_scopes_note_namespace(struct code_scopes *scopes, const Dwarf_Die *die,
                               const char *end);

/* *OUTER becomes the function, class or namespace around the entry DIE, which is one
 * itself. DIE belongs to the unit at ROOT, or to another unit without notes. OUTER's
 * addr is NULL if there is none. 0 or -ENOMEM. */
int code_scopes_outer(struct code_scopes *scopes, struct dwarf_file *dwarf,
                      const Dwarf_Die *root, const Dwarf_Die *die, Dwarf_Die *outer);

void code_scopes_free(struct code_scopes *scopes);

#endif
