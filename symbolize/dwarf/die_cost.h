/* SPDX-License-Identifier: MIT */
/* The memory that libdw takes for the units of a file. It reads the table of
 * abbreviations anew for each unit, keeps all, and ends the program when there is no
 * memory left: what it is given must be looked at before. */
#ifndef MEMLAG_SYMBOLIZE_DIE_COST_H
#define MEMLAG_SYMBOLIZE_DIE_COST_H

#include <elfutils/libdw.h>

/* 0 when the units of DWARF do not take far more than sound ones of their size do, nor
 * more than half of this machine's memory. Else those that do, each so small, or with so
 * long a table, as no compiler makes them, lose their tables in the memory that DWARF is
 * read from, so that nothing is read of their entries; *REFUSED is how many. -EFBIG when
 * these are all units, when there are too many of them, or where REFUSED is NULL: the
 * memory is not DWARF's own. */
int die_check_cost(Dwarf *dwarf, size_t *refused);

#endif
