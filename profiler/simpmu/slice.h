/* SPDX-License-Identifier: MIT */
/* Writing into a slice of the shared file (protocol.h). The Valgrind tool uses it, and
 * simpmu-launch for the last record of a replaced image. The caller waits for room. */
#ifndef SIMPMU_SLICE_H
#define SIMPMU_SLICE_H

#include "protocol.h"

static inline uint64_t slice_offset(uint64_t number)
{
        return SIMPMU_CONTROL_BYTES + SIMPMU_PLAN_BYTES + number * SIMPMU_SLICE_BYTES;
}

static inline uint64_t slice_used_bytes(const struct simpmu_slice *slice)
{
        return slice->head - __atomic_load_n(&slice->tail, __ATOMIC_ACQUIRE);
}

/* The bytes that a record of SIZE_BYTES takes with the padding before it. */
static inline uint64_t slice_needed_bytes(const struct simpmu_slice *slice,
                                          uint64_t size_bytes)
{
        uint64_t to_end = SIMPMU_RING_BYTES - slice->head % SIMPMU_RING_BYTES;

        return size_bytes <= to_end ? size_bytes : to_end + size_bytes;
}

static inline int slice_has_room(const struct simpmu_slice *slice, uint64_t size_bytes)
{
        uint64_t needed = slice_needed_bytes(slice, size_bytes);

        return slice_used_bytes(slice) + needed <= SIMPMU_RING_BYTES;
}

static inline void slice_publish(struct simpmu_slice *slice, uint64_t bytes)
{
        __atomic_store_n(&slice->head, slice->head + bytes, __ATOMIC_RELEASE);
}

/* Reserves a record of SIZE_BYTES, a multiple of 8. The caller has checked for room.
 * The record becomes visible with slice_publish. */
static inline struct simpmu_record *slice_reserve(struct simpmu_slice *slice,
                                                  uint64_t size_bytes)
{
        char *ring = (char *)slice + SIMPMU_SLICE_HEADER_BYTES;
        uint64_t position = slice->head % SIMPMU_RING_BYTES;

        if (position + size_bytes > SIMPMU_RING_BYTES) {
                struct simpmu_record *pad = (struct simpmu_record *)(ring + position);
                pad->size_bytes = (uint32_t)(SIMPMU_RING_BYTES - position);
                pad->type = SIMPMU_PAD;
                pad->flags = 0;
                slice_publish(slice, SIMPMU_RING_BYTES - position);
                position = 0;
        }
        return (struct simpmu_record *)(ring + position);
}

/* The current interval of thread NUMBER, below SIMPMU_LATEST_COUNTERS. */
static inline struct simpmu_counters *slice_latest_counters(struct simpmu_slice *slice,
                                                            uint32_t number)
{
        return (struct simpmu_counters *)((char *)slice + SIMPMU_SLICE_HEADER_BYTES +
                                          SIMPMU_RING_BYTES) +
               number;
}

/* Writes the last record. */
static inline void slice_end(struct simpmu_slice *slice, uint16_t flags, uint64_t time_ns)
{
        struct simpmu_record *end = slice_reserve(slice, sizeof(*end));

        *end = (struct simpmu_record){
            .size_bytes = sizeof(*end),
            .type = SIMPMU_END,
            .flags = flags,
            .time_ns = time_ns,
        };
        slice_publish(slice, sizeof(*end));
        __atomic_store_n(&slice->done, 1, __ATOMIC_RELEASE);
}

#endif
