/* SPDX-License-Identifier: MIT */
/* Records in a ring in shared memory. All threads of a process write without a lock. A
 * thread writes one record at a time. */
#ifndef MEMLAG_HEAP_RING_H
#define MEMLAG_HEAP_RING_H

#include <stdint.h>

#include "../simpmu/protocol.h"

/* Reserves a record of SIZE_BYTES, a multiple of 8 and not less than
 * SIMPMU_RECORD_MIN_BYTES; waits for room. NULL: no reader will make room. */
void *ring_reserve(struct simpmu_slice *ring, uint64_t size_bytes);

/* Commits the thread's reserved record. */
void ring_commit(struct simpmu_slice *ring, enum simpmu_record_type type);

/* The thread has abandoned a tracked function: its unfinished record, if any, is
 * void. */
void ring_abandon(struct simpmu_slice *ring);

#endif
