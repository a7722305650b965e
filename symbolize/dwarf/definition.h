/* SPDX-License-Identifier: MIT */
/* Finds the definitions of types that the current file only declares. The first query
 * searches all units of the module, once. */
#ifndef MEMLAG_SYMBOLIZE_DEFINITION_H
#define MEMLAG_SYMBOLIZE_DEFINITION_H

#include "die.h"
#include "hash_index.h"
#include "string_pool.h"

struct definition;

struct definitions {
        HASHED(struct definition);
        bool read;
};

/* The definition of the type NAME with its scope ("outer::node"), a union or not. False
 * if there is none, or there are several different ones. Sets *ERROR to -ENOMEM when out
 * of memory. */
bool definition_find(struct definitions *definitions, struct dwarf_file *dwarf,
                     struct string_pool *names, uint32_t name, bool is_union,
                     Dwarf_Die *die, int *error);

void definitions_free(struct definitions *definitions);

#endif
