/* SPDX-License-Identifier: MIT */
/* How the heap tracker tells memlag of blocks when the target runs as it is, on the
 * processor: records in a ring in shared memory, one for each process image, into which
 * all of its threads write without a lock. Runs inside somebody else's program: it keeps
 * no descriptor open, allocates nothing and leaves errno alone. */
#ifndef MEMLAG_HEAP_CHANNEL_H
#define MEMLAG_HEAP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

/* Opens the memory file that VALUE, of CHANNEL_VARIABLE, names. False: there is none, or
 * memlag has gone; nothing is told then. */
bool channel_open(const char *value);

/* Nothing is told any more, which is counted; no system call is made. */
void channel_close(void);

/* For a channel that is open: whether this is the child of a vfork, in the memory of
 * another process, to which the channel belongs. */
bool channel_is_borrowed(void);

/* The thread has left a tracked function in the middle: what it was writing is void, and
 * keeps nobody waiting. */
void channel_abandon(void);

/* FRAME: the frame address (__builtin_frame_address(0)) of the tracked function. */
void channel_alloc(enum heap_function function, uintptr_t addr, size_t size_bytes,
                   const void *frame);
void channel_free(uintptr_t addr);
void channel_resize(uintptr_t addr);
void channel_resized(uintptr_t addr);
/* REPLACED: by another mapping. */
void channel_unmap(uintptr_t start, size_t length_bytes, bool replaced);

#endif
