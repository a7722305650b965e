/* SPDX-License-Identifier: MIT */
/* The tracker's way to memlag: the memory file with the control page and the slices
 * (simpmu/protocol.h), and the pipe to ring. */
#ifndef MEMLAG_HEAP_LINK_H
#define MEMLAG_HEAP_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "../simpmu/protocol.h"

/* Of the memory file; NULL before link_open. */
extern struct simpmu_control *link_control __attribute__((visibility("hidden")));

/* Opens the memory file that VALUE, of CHANNEL_VARIABLE, names. False: there is none, or
 * memlag has gone, or wants to hear nothing. */
bool link_open(const char *value);

/* Claims a slice and maps it. NULL: there is no more room, or memlag is out of reach,
 * which is counted. */
struct simpmu_slice *link_map_slice(void);

/* Whether memlag is gone, or out of this process's reach: it has changed its user or its
 * root. */
bool link_is_gone(void);

/* Has memlag look at the rings. */
void link_ring(void);

/* Counts this process among those that cannot tell of their heap to the end, unless
 * memlag has ended. */
void link_note_cut_off(void);

/* So many calls of tracked functions were not told of. */
void link_count_untold(uint32_t calls);

/* A program is executed that cannot take the tracker. */
void link_count_refused(void);

#endif
