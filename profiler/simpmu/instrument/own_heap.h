/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows allocators that a program brings itself, by the names of their functions. */
#ifndef SIMPMU_OWN_HEAP_H
#define SIMPMU_OWN_HEAP_H

#include "instrument.h"

/* Whether an allocator's function begins at IP: a block of code must begin there. */
Bool own_heap_begins(Addr ip);

/* At the beginning of a block, and at its end. */
void own_heap_add_entry(struct pass *pass);
void own_heap_add_return(struct pass *pass);

/* Whether thread TID is in a call of such an allocator. A block that the tracker
 * reports during the call is not a block of the program. */
Bool own_heap_calls(ThreadId tid);

/* In the child of a fork, where TID is the only thread. */
void own_heap_forked(ThreadId tid);

#endif
