/* SPDX-License-Identifier: MIT */
/* What the C library keeps at the end of a thread's stack: the thread-local variables of
 * what was loaded when the thread began, and what it knows of the thread. Frames lie
 * below. */
#ifndef MEMLAG_SYMBOLIZE_THREAD_MEMORY_H
#define MEMLAG_SYMBOLIZE_THREAD_MEMORY_H

#include "sweep.h"

/* The bytes at the end of the stack MAPPING (an index into SWEEP's raw mappings) that may
 * be such memory; 0 where it is not a stack that was made for a thread. */
uint64_t thread_memory_bytes(const struct sweep *sweep, uint32_t mapping);

#endif
