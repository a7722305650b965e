/* SPDX-License-Identifier: MIT */
/* Which of the ways into a type the source names. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_NAMED_H
#define MEMLAG_SYMBOLIZE_TYPE_NAMED_H

#include "type_path.h"

/* How much of PATH, from its end, MEMBERS name as source_expression() writes them: how
 * many members that lie in each other. 0: not its end. */
size_t type_named(const struct string_pool *names, const struct type_path *path,
                  const char *members);

/* Whether an expression there begins with the last name of PATH, which may be that of a
 * variable, or of a member of what the code is in: C++ does not say `this->`. */
bool type_named_first(const struct string_pool *names, const struct type_path *path,
                      const char *members);

/* Whether they name all members of PATH, and none before that PATH's type is in. */
bool type_named_whole(const struct string_pool *names, const struct type_path *path,
                      const char *members);

#endif
