/* SPDX-License-Identifier: MIT */
#ifndef MEMLAG_THREAD_GONE_H
#define MEMLAG_THREAD_GONE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether process PID, by the numbers of /proc, lives and has no living thread that it
 * knows itself as TID. False where that cannot be told, as of a process in another PID
 * namespace. */
bool thread_has_gone(uint32_t pid, uint32_t tid);

#endif
