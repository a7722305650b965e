/* SPDX-License-Identifier: MIT */
/* The type units in a package; other units refer to them by signature. Units compiled
 * together share abbreviations and strings, and are opened together. */
#ifndef MEMLAG_SYMBOLIZE_SPLIT_TYPES_H
#define MEMLAG_SYMBOLIZE_SPLIT_TYPES_H

#include "hash_index.h"
#include "split_unit.h"

struct split_type;
struct split_types_row;

/* Zero-initialised: nothing was asked. */
struct split_types {
        bool read;
        struct split_index index;
        struct elf_bytes whole[SPLIT_PARTS]; /* the package's sections */
        struct split_types_row *rows;        /* units compiled together are adjacent */
        HASHED(struct split_type) known;     /* of units that are open */
};

/* Looks for the type with SIGNATURE in PACKAGE. If it opens units, it returns them in
 * *OPENED, else NULL. The caller owns *OPENED and keeps it as long as TYPES, also on
 * error. 0, or an error as from split_unit_open(). */
int split_types_find(struct split_types *types, const struct split_package *package,
                     uint64_t signature, Dwarf_Die *die, struct split_unit **opened);
void split_types_free(struct split_types *types);

#endif
