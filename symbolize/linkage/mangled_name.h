/* SPDX-License-Identifier: MIT */
/* Which part of a mangled name of C++ names the function, and which its parameters. */
#ifndef MEMLAG_SYMBOLIZE_MANGLED_NAME_H
#define MEMLAG_SYMBOLIZE_MANGLED_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Parts of a name's text. */
struct mangled {
        const char *around; /* the function that the name is local to; length 0: none */
        size_t around_length;
        const char *qualifiers; /* of a member function */
        size_t qualifiers_length;
        const char *scoped; /* scopes, the name and its template's arguments */
        size_t scoped_length;
        const char *parameters; /* for a template, with its return type */
        size_t parameters_length;
};

/* The LENGTH first characters of LINK, which begins with "_Z". False where they are no
 * function's, or hold expressions. */
bool mangled_take_apart(const char *link, size_t length, struct mangled *parts);

/* Whether A and B are the names for linking of one constructor or destructor, which has
 * several (Itanium C++ ABI, 5.1.4.3). */
bool mangled_same_constructor(const char *a, const char *b);

#endif
