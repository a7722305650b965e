/* SPDX-License-Identifier: MIT */
/* Names of C++ functions without linkage names, qualified by the enclosing scopes. */
#ifndef MEMLAG_SYMBOLIZE_QUALIFIED_NAME_H
#define MEMLAG_SYMBOLIZE_QUALIFIED_NAME_H

#include "code_entry.h"

/* *NAME becomes the number of the name of the function at DIE with its namespaces and
 * classes, "shop::(anonymous namespace)::Cart::total", as the demangler writes it (0: it
 * has none); *ALONE: nothing is known that it would be in. 0 or -ENOMEM. */
int qualified_name(struct code_entries *entries, const Dwarf_Die *die, uint32_t *name,
                   bool *alone);

#endif
