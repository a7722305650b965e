/* SPDX-License-Identifier: MIT */
/* The memory that libdw takes for the units of a file. It reads the table of
 * abbreviations again for each unit, frees none, and ends the program when memory runs
 * out. Its input must therefore be checked first. */
#ifndef MEMLAG_SYMBOLIZE_DIE_COST_H
#define MEMLAG_SYMBOLIZE_DIE_COST_H

#include <elfutils/libdw.h>

/* Checks the memory that the units of DWARF take. 0: it is at most half of this
 * machine's memory, and not far more than sound units of their size take. Otherwise
 * -EFBIG. */
int die_check_cost(Dwarf *dwarf);

#endif
