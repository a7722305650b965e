/* SPDX-License-Identifier: MIT */
/* Whether one code stands for several functions of the source. Compilers and linkers keep
 * one of several equal functions. Debug information describes only that one, or all at
 * its address. */
#ifndef MEMLAG_SYMBOLIZE_FOLDED_H
#define MEMLAG_SYMBOLIZE_FOLDED_H

#include "symbol_table.h"

/* Whether the function of FILE that is entered at ENTRY is, or may be. SYMBOLS are
 * FILE's. A second name that the source gives to a function counts, too. */
bool folded_function(const struct elf_file *file, const struct symbol_table *symbols,
                     uint64_t entry);

#endif
