/* SPDX-License-Identifier: MIT */
/* Which of the ways into a type the source names. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_NAMED_H
#define MEMLAG_SYMBOLIZE_TYPE_NAMED_H

#include "type_path.h"

/* Paths to members that share their place, and the one that the source names. */
struct type_choice {
        struct type_path way;
        size_t named;   /* how much of its end; 0: none is */
        bool several;   /* are named as well */
        bool first;     /* the source's expression may begin with one */
        bool bits;      /* there are bit-fields */
        unsigned equal; /* numbers of as many bytes as are accessed, or several members */
};

/* Adds WAY, which ACCESS fits, to CHOICE, which begins as {0}. NAMES may be NULL. */
void type_choice_add(struct type_choice *choice, const struct string_pool *names,
                     const struct type_access *access, const struct type_path *way);

/* Whether the source names CHOICE's path. If its members may belong to an equal, merged
 * access, no other path may be equal. */
bool type_choice_made(const struct type_choice *choice, const struct type_access *access);

/* Whether MEMBERS, as source_expression() writes them, name all members of PATH, and none
 * before that PATH's type is in. */
bool type_named_whole(const struct string_pool *names, const struct type_path *path,
                      const char *members);

#endif
