/* SPDX-License-Identifier: MIT */
/* Which base classes a field has to be told with: a class may have members of the names
 * that those of its bases have, and each of its bases of those of another's, as the
 * elements of a std::tuple. */
#ifndef MEMLAG_SYMBOLIZE_BASE_NAMES_H
#define MEMLAG_SYMBOLIZE_BASE_NAMES_H

#include "type_table.h"

/* MEMBERS, COUNT of them, are all of a class, each base among them with its name: takes
 * the names from those bases whose fields are told from all others without. 0 or
 * -ENOMEM. */
int base_names_settle(const struct types *types, struct member *members, size_t count);

#endif
