/* SPDX-License-Identifier: MIT */
/* How linkage names enter the string pool. */
#ifndef MEMLAG_SYMBOLIZE_NAME_H
#define MEMLAG_SYMBOLIZE_NAME_H

#include <stdbool.h>

#include "string_pool.h"

/* The readable form of a linkage name. */
uint32_t name_put_linkage(struct string_pool *names, const char *linkage_name);

/* The same of a symbol, which may end in a version ("stdout@GLIBC_2.2.5"). */
uint32_t name_put_symbol(struct string_pool *names, const char *symbol);

/* The name of a stub that jumps to FUNCTION: "puts@plt". */
uint32_t name_put_stub(struct string_pool *names, const char *function);

/* Whether SYMBOL is the linkage name of a C++ or Rust function. */
bool name_mangled(const char *symbol);

/* The same of a mangled SYMBOL that may name a part of a function which the compiler
 * has split: the function's name, without ".cold" or ".part.0". */
uint32_t name_put_part(struct string_pool *names, const char *symbol);

#endif
