/* SPDX-License-Identifier: MIT */
/* Takes records out of a process's ring, and checks them. */
#include "sim_ring.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/event.h"
#include "simpmu/slice.h"

/* Of a PAD only this much need be there. */
struct record_start {
        uint32_t size_bytes;
        uint16_t type;
        uint16_t flags;
};

/* ---- the ring ---- */

static const char *ring_bytes(const struct sim_ring *ring)
{
        return (const char *)ring->slice + SIMPMU_SLICE_HEADER_BYTES;
}

static uint64_t ring_head(const struct sim_ring *ring)
{
        return ring->many_producers
                   ? owner_head(ring->slice, ring->tail)
                   : __atomic_load_n(&ring->slice->head, __ATOMIC_ACQUIRE);
}

/* Reads the start of the next record; 0: there is none. */
static int next_start(const struct sim_ring *ring, struct record_start *start,
                      const char **fault)
{
        uint64_t available = ring_head(ring) - ring->tail;
        if (available == 0)
                return 0;
        uint64_t position = ring->tail % SIMPMU_RING_BYTES;
        *fault = NULL;
        if (available > SIMPMU_RING_BYTES || available % 8 != 0) {
                *fault = "the ring's head makes no sense";
                return -EPROTO;
        }
        uint64_t word = __atomic_load_n((const uint64_t *)(ring_bytes(ring) + position),
                                        __ATOMIC_ACQUIRE);
        memcpy(start, &word, sizeof(*start));
        if (ring->many_producers && start->size_bytes == 0)
                return 0;
        if (start->size_bytes < sizeof(*start) || start->size_bytes % 8 != 0 ||
            start->size_bytes > available ||
            start->size_bytes > SIMPMU_RING_BYTES - position)
                *fault = "a record's size makes no sense";
        else if (start->type == SIMPMU_PAD)
                return 1;
        else if (start->size_bytes < sizeof(struct simpmu_record) ||
                 start->size_bytes > SIM_RECORD_MAX_BYTES)
                *fault = "a record is too short or too long";
        return *fault ? -EPROTO : 1;
}

int sim_ring_peek(struct sim_ring *ring, void *buffer, const char **fault)
{
        struct record_start start;
        int rc;
        while ((rc = next_start(ring, &start, fault)) > 0 && start.type == SIMPMU_PAD)
                ring->tail += start.size_bytes;
        if (rc <= 0)
                return rc;
        memcpy(buffer, ring_bytes(ring) + ring->tail % SIMPMU_RING_BYTES,
               start.size_bytes);
        memcpy(buffer, &start,
               sizeof(start)); /* use the checked value: the memory may have changed */
        *fault = sim_record_fault(buffer, start.size_bytes);
        return *fault ? -EPROTO : 1;
}

void sim_ring_pop(struct sim_ring *ring, const void *buffer)
{
        const struct simpmu_record *record = buffer;
        ring->tail += record->size_bytes;
}

struct owner sim_ring_owner(const struct sim_ring *ring)
{
        const uint64_t *word =
            (const uint64_t *)(ring_bytes(ring) + ring->tail % SIMPMU_RING_BYTES);
        uint64_t available = ring_head(ring) - ring->tail;
        struct owner owner = owner_find(ring->slice, ring->tail);
        /* The slice is hostile. A record that is complete by now needs no owner. */
        if (available == 0 || available > SIMPMU_RING_BYTES || owner.size_bytes == 0 ||
            owner.size_bytes > available || __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0)
                owner.tid = 0;
        return owner;
}

void sim_ring_pass_over(struct sim_ring *ring, const struct owner *owner)
{
        ring->tail += owner->size_bytes;
}

/* Clears the bytes between FROM and the read position. */
static void clear(struct sim_ring *ring, uint64_t from)
{
        char *bytes = (char *)ring->slice + SIMPMU_SLICE_HEADER_BYTES;
        uint64_t length = ring->tail - from;
        uint64_t position = from % SIMPMU_RING_BYTES;
        uint64_t to_end = SIMPMU_RING_BYTES - position;
        if (length > SIMPMU_RING_BYTES)
                length = SIMPMU_RING_BYTES; /* the slice's tail is hostile, too */
        memset(bytes + position, 0, length < to_end ? length : to_end);
        if (length > to_end)
                memset(bytes, 0, length - to_end);
}

void sim_ring_release(struct sim_ring *ring)
{
        struct simpmu_slice *slice = ring->slice;
        uint64_t before = slice->tail;
        if (before == ring->tail)
                return;
        if (ring->many_producers) {
                __atomic_store_n(&slice->taken, ring->tail, __ATOMIC_SEQ_CST);
                clear(ring, before);
        }
        /* Pairs with the producer, which announces its wait before it checks again. */
        __atomic_store_n(&slice->tail, ring->tail, __ATOMIC_SEQ_CST);
        if (!__atomic_exchange_n(&slice->producer_waits, 0, __ATOMIC_SEQ_CST))
                return;
        __atomic_add_fetch(&slice->space_futex, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &slice->space_futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sim_ring_discard(struct sim_ring *ring)
{
        ring->tail = ring_head(ring);
        sim_ring_release(ring);
}

bool sim_ring_latest_counters(const struct sim_ring *ring, uint32_t number,
                              struct simpmu_counters *copy)
{
        const struct simpmu_counters *latest = slice_latest_counters(ring->slice, number);
        const uint32_t *version = &latest->header.reserved;
        for (int tries = 0; tries < 1000; tries++) {
                uint32_t before = __atomic_load_n(version, __ATOMIC_ACQUIRE);
                memcpy(copy, latest, sizeof(*copy));
                __atomic_thread_fence(__ATOMIC_SEQ_CST);
                if (before % 2 == 0 &&
                    before == __atomic_load_n(version, __ATOMIC_RELAXED))
                        return copy->header.size_bytes == sizeof(*copy) &&
                               copy->header.type == SIMPMU_COUNTERS &&
                               copy->header.time_ns > copy->start_ns &&
                               !sim_record_fault(&copy->header, sizeof(*copy));
        }
        return false; /* the process was killed while it wrote */
}

/* ---- records ---- */

/* Returns true if the text at OFFSET ends within the record. */
static bool has_text(const struct simpmu_record *record, size_t size, size_t offset)
{
        return size > offset &&
               memchr((const char *)record + offset, '\0', size - offset);
}

static bool has_frames(size_t size, size_t offset, uint32_t depth)
{
        return size >= offset && depth <= (size - offset) / sizeof(uint64_t);
}

static size_t least_size(uint16_t type)
{
        static const size_t sizes[] = {
            [SIMPMU_PROCESS] = sizeof(struct simpmu_process) + 1,
            [SIMPMU_FORK] = sizeof(struct simpmu_fork),
            [SIMPMU_THREAD] = sizeof(struct simpmu_thread),
            [SIMPMU_THREAD_EXIT] = sizeof(struct simpmu_record),
            [SIMPMU_MAP] = sizeof(struct simpmu_map) + 1,
            [SIMPMU_UNMAP] = sizeof(struct simpmu_unmap),
            [SIMPMU_SAMPLE] = sizeof(struct simpmu_sample),
            [SIMPMU_COUNTERS] = sizeof(struct simpmu_counters),
            [SIMPMU_ALLOC] = sizeof(struct simpmu_alloc),
            [SIMPMU_FREE] = sizeof(struct simpmu_free),
            [SIMPMU_TRACKER] = sizeof(struct simpmu_record),
            [SIMPMU_UNHANDLED] = sizeof(struct simpmu_unhandled),
            [SIMPMU_STACK] = sizeof(struct simpmu_stack),
            [SIMPMU_ALLOC_AT] = sizeof(struct simpmu_alloc_at),
            [SIMPMU_RANGE_FREE] = sizeof(struct simpmu_range_free),
            [SIMPMU_END] = sizeof(struct simpmu_record),
            [SIMPMU_RESIZE] = sizeof(struct simpmu_free),
            [SIMPMU_RESIZED] = sizeof(struct simpmu_free),
            [SIMPMU_LINE] = sizeof(struct simpmu_line),
            [SIMPMU_EXECUTED] = sizeof(struct simpmu_executed),
            [SIMPMU_THREAD_NAME] = sizeof(struct simpmu_thread_name),
        };
        return type < sizeof(sizes) / sizeof(sizes[0]) ? sizes[type] : 0;
}

static const char *map_fault(const struct simpmu_map *map, size_t size)
{
        if (map->kind > SIMPMU_MAP_VDSO)
                return "a mapping of unknown kind";
        if (map->build_id_bytes > sizeof(map->build_id))
                return "a build-id that is too long";
        if (!has_text(&map->header, size, offsetof(struct simpmu_map, path)))
                return "a path without an end";
        return NULL;
}

static const char *sample_fault(const struct simpmu_sample *sample, size_t size)
{
        if (sample->level >= SIMPMU_LEVEL_COUNT)
                return "a sample of unknown level";
        if (sample->stack_frame > sample->depth)
                return "a frame that its stack does not have";
        if (sample->stack_frame && sample->other_depth)
                return "an address in two frames";
        if (!has_frames(size, offsetof(struct simpmu_sample, frames),
                        (uint32_t)sample->depth + sample->other_depth))
                return "a stack that does not fit";
        return NULL;
}

static const char *alloc_fault(const struct simpmu_alloc *alloc, size_t size)
{
        if (alloc->function >= HEAP_FUNCTION_COUNT)
                return "an allocation by an unknown function";
        if (!has_frames(size, offsetof(struct simpmu_alloc, frames), alloc->depth))
                return "a stack that does not fit";
        return NULL;
}

static const char *counters_fault(const struct simpmu_counters *counters)
{
        if (counters->start_ns > INT64_MAX)
                return "a time that makes no sense";
        for (size_t i = 0; i < SIMPMU_COUNTER_COUNT; i++)
                if (counters->value[i] > INT64_MAX)
                        return "a counter that makes no sense";
        return NULL;
}

const char *sim_record_fault(const struct simpmu_record *record, size_t size)
{
        size_t least = least_size(record->type);
        if (least == 0)
                return "a record of unknown type";
        if (size < least)
                return "a record that is too short for its type";
        if (record->time_ns > INT64_MAX)
                return "a time that makes no sense";
        switch (record->type) {
        case SIMPMU_PROCESS:
                return has_text(record, size, offsetof(struct simpmu_process, executable))
                           ? NULL
                           : "a program's name without an end";
        case SIMPMU_THREAD_NAME:
                return has_text(record, size, offsetof(struct simpmu_thread_name, name))
                           ? NULL
                           : "a thread's name without an end";
        case SIMPMU_MAP:
                return map_fault((const struct simpmu_map *)record, size);
        case SIMPMU_SAMPLE:
                return sample_fault((const struct simpmu_sample *)record, size);
        case SIMPMU_ALLOC:
                return alloc_fault((const struct simpmu_alloc *)record, size);
        case SIMPMU_STACK:
                return has_frames(size, offsetof(struct simpmu_stack, frames),
                                  ((const struct simpmu_stack *)record)->depth)
                           ? NULL
                           : "a stack that does not fit";
        case SIMPMU_ALLOC_AT:
                return ((const struct simpmu_alloc_at *)record)->function <
                               HEAP_FUNCTION_COUNT
                           ? NULL
                           : "an allocation by an unknown function";
        case SIMPMU_LINE:
                return !(record->flags & SIMPMU_LINE_USED) &&
                               ((const struct simpmu_line *)record)->value > INT64_MAX
                           ? "a size of a cache that makes no sense"
                           : NULL;
        case SIMPMU_COUNTERS:
                return counters_fault((const struct simpmu_counters *)record);
        case SIMPMU_UNHANDLED:
                return ((const struct simpmu_unhandled *)record)->length > 16
                           ? "an instruction that is too long"
                           : NULL;
        default:
                return NULL;
        }
}
