/* SPDX-License-Identifier: MIT */
/* What the parts of the heap tracker want of it. */
#ifndef MEMLAG_HEAP_TRACKER_H
#define MEMLAG_HEAP_TRACKER_H

/* Tells memlag of nothing more, makes no system call of its own from now on, and has no
 * program followed that this one executes; which is counted. The engine hears on. */
void tracker_stop(void);

#endif
