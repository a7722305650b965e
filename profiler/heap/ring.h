/* SPDX-License-Identifier: MIT */
/* Records in a ring in shared memory, into which all threads of a process write without a
 * lock. A thread writes one record at a time. */
#ifndef MEMLAG_HEAP_RING_H
#define MEMLAG_HEAP_RING_H

#include <stdint.h>

#include "../simpmu/protocol.h"

/* The place for a record of SIZE_BYTES, a multiple of 8 and not less than
 * SIMPMU_RECORD_MIN_BYTES; waits for room. NULL: nobody will make any. */
void *ring_reserve(struct simpmu_slice *ring, uint64_t size_bytes);

/* Makes the record in the place that the thread has count. */
void ring_commit(struct simpmu_slice *ring, enum simpmu_record_type type);

/* The thread has left a tracked function in the middle: what it was writing, if it has a
 * place, is void. */
void ring_abandon(struct simpmu_slice *ring);

#endif
