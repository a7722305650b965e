/* SPDX-License-Identifier: MIT */
/* The base classes in fields' names: a class and its bases, as the elements of a
 * std::tuple, may have members of one name. */
#ifndef MEMLAG_SYMBOLIZE_BASE_NAMES_H
#define MEMLAG_SYMBOLIZE_BASE_NAMES_H

#include "type_table.h"

/* MEMBERS, COUNT of them, are all of a class, with its bases by name. Removes the names
 * of bases whose fields have names that nothing else in the class has. 0 or -ENOMEM. */
int base_names_settle(const struct types *types, struct member *members, size_t count);

#endif
