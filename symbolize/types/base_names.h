/* SPDX-License-Identifier: MIT */
/* Base classes in fields' names. A class and its bases, such as a std::tuple's elements,
 * may have members of one name. */
#ifndef MEMLAG_SYMBOLIZE_BASE_NAMES_H
#define MEMLAG_SYMBOLIZE_BASE_NAMES_H

#include "type_table.h"

/* MEMBERS are all COUNT members of a class, with its bases by name. Removes a base's name
 * if nothing else in the class has a field of the same name. 0 or -ENOMEM. */
int base_names_settle(const struct types *types, struct member *members, size_t count);

#endif
