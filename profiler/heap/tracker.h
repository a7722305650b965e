/* SPDX-License-Identifier: MIT */
/* Interface between the parts of the heap tracker. */
#ifndef MEMLAG_HEAP_TRACKER_H
#define MEMLAG_HEAP_TRACKER_H

#include <stdbool.h>

struct tracker_hold {
        enum { TRACKER_SILENT, TRACKER_HELD, TRACKER_BORROWED } kind;
        const void *call; /* the thread's current call */
};

/* Call before the program restricts itself. Afterwards no thread is in a system call of
 * the tracker, nor begins one, and this thread records nothing. FRAME: the frame address
 * of the restricting function. A child of vfork does not stop its parent's threads. */
struct tracker_hold tracker_hold(const void *frame);

/* FORBIDDEN: from now on the process records nothing for memlag, which is counted, and
 * executed programs are not tracked; otherwise recording resumes. Valgrind still
 * receives events. */
void tracker_settle(struct tracker_hold hold, bool forbidden);

#endif
