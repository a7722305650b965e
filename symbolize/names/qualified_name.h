/* SPDX-License-Identifier: MIT */
/* Names of C++ functions without linkage names, qualified by the enclosing scopes. */
#ifndef MEMLAG_SYMBOLIZE_QUALIFIED_NAME_H
#define MEMLAG_SYMBOLIZE_QUALIFIED_NAME_H

#include "code_entry.h"

/* *NAME becomes the name of the function at DIE with its namespaces and classes, in the
 * demangler's form: "shop::(anonymous namespace)::Cart::total". 0: it has none. *ALONE:
 * no enclosing scope is known. 0 or -ENOMEM. */
int qualified_name(struct code_entries *entries, const Dwarf_Die *die, uint32_t *name,
                   bool *alone);

#endif
