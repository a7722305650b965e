/* SPDX-License-Identifier: MIT */
/* The shape of a function's parameters and result, as a compiler that merges functions
 * sees it: all pointers are alike. */
#ifndef MEMLAG_SYMBOLIZE_SIGNATURE_H
#define MEMLAG_SYMBOLIZE_SIGNATURE_H

#include "die.h"

enum { SIGNATURE_PARAMETERS = 16 }; /* a function with more equals no other */

struct signature {
        uint64_t result;
        uint64_t parameters[SIGNATURE_PARAMETERS];
        size_t count;
};

struct signature signature_of(struct dwarf_file *dwarf, const Dwarf_Die *function);

bool signature_same(const struct signature *a, const struct signature *b);

#endif
