/* SPDX-License-Identifier: MIT */
/* The tracker's connection to memlag: the memory file with the control page and the
 * slices (simpmu/protocol.h), and the notification pipe. */
#ifndef MEMLAG_HEAP_LINK_H
#define MEMLAG_HEAP_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "../simpmu/protocol.h"

/* Of the memory file; NULL before link_open. */
extern struct simpmu_control *link_control __attribute__((visibility("hidden")));

/* Opens the memory file named by VALUE, the value of CHANNEL_VARIABLE. False: there is
 * none, or memlag has gone or stopped recording. */
bool link_open(const char *value);

/* Claims a slice and maps it. NULL: no slice is left, or memlag is inaccessible; the
 * loss is counted. */
struct simpmu_slice *link_map_slice(void);

/* Returns true if memlag is gone, or inaccessible because this process has changed its
 * user or root. */
bool link_is_gone(void);

/* Has memlag look at the rings. */
void link_ring(void);

/* Counts this process as a process with incomplete heap events, unless memlag has
 * ended. */
void link_note_cut_off(void);

/* Counts calls of tracked functions that were not recorded. */
void link_count_untold(uint32_t calls);

/* Counts an executed program that cannot load the tracker. */
void link_count_refused(void);

#endif
