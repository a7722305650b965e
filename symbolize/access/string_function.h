/* SPDX-License-Identifier: MIT */
/* Functions of the C library that read nothing but texts, by their names. Knows no
 * files. */
#ifndef MEMLAG_SYMBOLIZE_STRING_FUNCTION_H
#define MEMLAG_SYMBOLIZE_STRING_FUNCTION_H

#include <stdbool.h>

/* Whether NAME (NULL: none) is a string function, or a processor's version of one, such
 * as "__strlen_avx2". */
bool string_function(const char *name);

/* Whether NAME (NULL: none) is a member function of C++'s std::string, which handles only
 * char. */
bool string_member(const char *name);

#endif
