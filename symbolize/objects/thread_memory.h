/* SPDX-License-Identifier: MIT */
/* The C library's data at the end of a thread's stack: thread-local variables of
 * modules loaded when the thread began, and the thread's descriptor. Frames lie below. */
#ifndef MEMLAG_SYMBOLIZE_THREAD_MEMORY_H
#define MEMLAG_SYMBOLIZE_THREAD_MEMORY_H

#include "sweep.h"

/* The bytes at the end of the stack MAPPING (an index into SWEEP's raw mappings) that
 * may be such memory; 0 if it is not a thread's stack. */
uint64_t thread_memory_bytes(const struct sweep *sweep, uint32_t mapping);

#endif
