/* SPDX-License-Identifier: MIT */
/* Turns C++ names as g++ writes them into debug information into the demangler's form. */
#ifndef MEMLAG_SYMBOLIZE_SPELLING_H
#define MEMLAG_SYMBOLIZE_SPELLING_H

#include <stddef.h>

/* The number of lambdas among the arguments of NAME's template: "<lambda(int)>". */
size_t spelling_lambdas(const char *name);

/* NAME with "long" for "long int" and similar types. LAMBDAS, as many as NAME has,
 * replace its lambdas, without the parameters of their enclosing functions. LAMBDAS
 * may be NULL: the lambdas stay. The caller frees it; NULL: no memory. */
char *spelling_demangled(const char *name, const char *const *lambdas);

#endif
