/* SPDX-License-Identifier: MIT */
/* What the parts of the heap tracker want of it. */
#ifndef MEMLAG_HEAP_TRACKER_H
#define MEMLAG_HEAP_TRACKER_H

#include <stdbool.h>

struct tracker_hold {
        enum { TRACKER_SILENT, TRACKER_HELD, TRACKER_BORROWED } kind;
        const void *call; /* what the thread was in */
};

/* Before the program forbids itself something: no thread is in a system call of the
 * tracker afterwards, nor begins one, and this thread tells nothing (FRAME: the frame
 * address of the function that forbids). A child of vfork leaves its parent's threads
 * alone. */
struct tracker_hold tracker_hold(const void *frame);

/* FORBIDDEN: from now on the process tells memlag of nothing more, which is counted, and
 * executed programs are not followed; else all goes on. The engine hears on. */
void tracker_settle(struct tracker_hold hold, bool forbidden);

#endif
