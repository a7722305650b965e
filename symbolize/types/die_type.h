/* SPDX-License-Identifier: MIT */
/* Types from the debug information of one module into the tables of type_table.h. */
#ifndef MEMLAG_SYMBOLIZE_DIE_TYPE_H
#define MEMLAG_SYMBOLIZE_DIE_TYPE_H

#include "definition.h"
#include "die.h"
#include "type_table.h"

/* A type's entry, without qualifiers and typedefs. */
struct type_entry {
        const void *die; /* its address */
        uint32_t type;
};

/* The target of a pointer. */
struct type_pointee {
        Dwarf_Die die;     /* addr NULL: void, or no pointer */
        uint64_t language; /* DW_LANG_* of the first reference to it; 0: not known */
};

struct type_reader {
        struct dwarf_file *dwarf;
        struct types *types;
        struct string_pool *names;
        HASHED(struct type_entry) entries;
        /* The targets of this module's pointers: pointees[i] of type first_type + i. */
        uint32_t first_type;
        LIST(struct type_pointee) pointees;
        /* The namespaces and classes around types, by the unit's entry and the type's. */
        HASHED(struct type_scope) scopes;
        struct definitions definitions;
        uint64_t language; /* DW_LANG_* of the current entries; 0: not known */
        const void *unit;  /* UNIT_LANGUAGE is its language; 0: it has none */
        uint64_t unit_language;
        unsigned depth;
        int error; /* -ENOMEM after a lack of memory */
};

void type_reader_open(struct type_reader *reader, struct dwarf_file *dwarf,
                      struct types *types, struct string_pool *names);
void type_reader_close(struct type_reader *reader);

/* The type of the variable, parameter or function DIE, or of its origin. */
uint32_t type_of_variable(struct type_reader *reader, Dwarf_Die *die);
/* The target of the pointer TYPE; TYPE_NONE: not known, or no pointer. Only for types of
 * this reader's module. */
uint32_t type_pointee(struct type_reader *reader, uint32_t type);
/* A pointer to the type of the variable DIE, for an address that no variable contains.
 * TYPE_NONE if DIE has no type. */
uint32_t type_pointer_to(struct type_reader *reader, Dwarf_Die *die);

/* For readers of members. The type that DIE describes; TYPE_NONE if it cannot be read. */
uint32_t type_of_die(struct type_reader *reader, Dwarf_Die *die);
/* The number of TYPE with MEMBERS; TYPE_NONE: out of memory, which READER notes. */
uint32_t type_put(struct type_reader *reader, const struct type *type,
                  const struct member *members);

#endif
