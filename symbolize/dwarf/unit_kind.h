/* SPDX-License-Identifier: MIT */
/* Facts about entries that follow from their unit's language and compiler. */
#ifndef MEMLAG_SYMBOLIZE_UNIT_KIND_H
#define MEMLAG_SYMBOLIZE_UNIT_KIND_H

#include "die.h"

bool unit_is_cplusplus(struct dwarf_file *dwarf, Dwarf_Die *entries);
/* Whether classes of C++ contain only declarations. gcc and clang put the code of
 * member functions outside the class, except for classes inside of functions. */
bool unit_classes_declare(struct dwarf_file *dwarf, Dwarf_Die *entries);
/* Whether gcc compiled FUNCTION, which may be a unit. */
bool function_is_of_gcc(struct dwarf_file *dwarf, Dwarf_Die *function);
/* Whether a statement of FUNCTION that the compiler repeats has a row in the line
 * table for each copy. This holds for gcc, if its options (in DW_AT_producer) prevent
 * vectorisation. A vectorised statement has all its parts in one row. */
bool function_in_rows(struct dwarf_file *dwarf, Dwarf_Die *function);

#endif
