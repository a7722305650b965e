/* SPDX-License-Identifier: MIT */
#ifndef MEMLAG_THREAD_GONE_H
#define MEMLAG_THREAD_GONE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if process PID, as numbered in /proc, lives and has no living thread with
 * the namespace-local id TID. False if unknown, as for a process in another PID
 * namespace. */
bool thread_has_gone(uint32_t pid, uint32_t tid);

#endif
