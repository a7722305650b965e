/* SPDX-License-Identifier: MIT */
/* The memory that libdw takes for the units of a file. It reads the table of
 * abbreviations anew for each unit, keeps all, and ends the program when there is no
 * memory left: what it is given must be looked at before. */
#ifndef MEMLAG_SYMBOLIZE_DIE_COST_H
#define MEMLAG_SYMBOLIZE_DIE_COST_H

#include <elfutils/libdw.h>

/* 0, or -EFBIG when the units of DWARF would take far more than sound ones of their size
 * do: each so small, or so many with one long table, as no compiler makes them; or more
 * than half of this machine's memory. */
int die_check_cost(Dwarf *dwarf);

#endif
