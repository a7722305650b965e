/* SPDX-License-Identifier: MIT */
/* Names of C++ as g++ writes them into debug information, as the demangler has them. */
#ifndef MEMLAG_SYMBOLIZE_SPELLING_H
#define MEMLAG_SYMBOLIZE_SPELLING_H

#include <stddef.h>

/* How many lambdas NAME has among its template's arguments: "<lambda(int)>". */
size_t spelling_lambdas(const char *name);

/* NAME with "long" for "long int" and similar types. LAMBDAS, as many as NAME has,
 * replace its lambdas, without the parameters of their enclosing functions. LAMBDAS
 * may be NULL: the lambdas stay. The caller frees it; NULL: no memory. */
char *spelling_demangled(const char *name, const char *const *lambdas);

#endif
