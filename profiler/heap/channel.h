/* SPDX-License-Identifier: MIT */
/* Sends heap events to memlag from a target that runs natively. The records go to a ring
 * in shared memory, one per process image. All threads write to the ring without a lock.
 * Runs inside a foreign program: it keeps no descriptor open, allocates nothing and
 * leaves errno alone. */
#ifndef MEMLAG_HEAP_CHANNEL_H
#define MEMLAG_HEAP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

/* Opens the memory file named by VALUE, the value of CHANNEL_VARIABLE. False: there is
 * none, or memlag has gone; recording is then off. */
bool channel_open(const char *value);

/* Ends recording, and counts the loss; makes no system call. */
void channel_close(void);

/* For an open channel: returns true in the child of a vfork. It runs in its parent's
 * memory, and the channel belongs to the parent. */
bool channel_is_borrowed(void);

/* The thread has abandoned a tracked function: its unfinished record becomes void, and
 * blocks nobody. */
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
