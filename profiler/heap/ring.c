/* SPDX-License-Identifier: MIT */
/* The producer's side of the ring that all threads of a process write to. */
#include "ring.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>

#include "calls.h"
#include "link.h"
#include "thread.h"

/* memlag is told once the ring is this full. */
#define BELL_BYTES (SIMPMU_RING_BYTES / 4)
/* How long to wait for room before asking whether memlag still lives. */
#define WAIT_NS 100000000

static bool has_room(const struct simpmu_slice *ring, uint64_t head, uint64_t bytes)
{
        return head + bytes - __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST) <=
               SIMPMU_RING_BYTES;
}

/* False when nobody will make room. */
static bool wait_for_room(struct simpmu_slice *ring, uint64_t bytes)
{
        const struct timespec limit = {.tv_nsec = WAIT_NS};
        for (;;) {
                uint32_t seen = __atomic_load_n(&ring->space_futex, __ATOMIC_ACQUIRE);
                __atomic_store_n(&ring->producer_waits, 1, __ATOMIC_SEQ_CST);
                uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
                if (has_room(ring, head, bytes))
                        return true;
                if (link_is_gone())
                        return false;
                link_ring();
                calls_do(SYS_futex, (long)&ring->space_futex, FUTEX_WAIT, seen,
                         (long)&limit, 0, 0);
        }
}

static void publish(void *place, uint64_t size_bytes, enum simpmu_record_type type)
{
        __atomic_store_n((uint64_t *)place, size_bytes | (uint64_t)type << 32,
                         __ATOMIC_RELEASE);
}

void ring_commit(void *place, uint64_t size_bytes, enum simpmu_record_type type)
{
        heap_thread.record = NULL; /* first: the place may be another's once it counts */
        signal_fence();
        publish(place, size_bytes, type);
}

/* Whether the place that the thread wanted is its own. Left in the moment in which it got
 * it, only a thread that is alone knows, and not where the ring's end made padding: that
 * place keeps the reader waiting. */
static bool has_place(const struct simpmu_slice *ring)
{
        return heap_thread.has_place ||
               (__libc_single_threaded &&
                __atomic_load_n(&ring->head, __ATOMIC_RELAXED) != heap_thread.position);
}

/* Notes which place the thread wants, and that it has it, for channel_abandon. */
static void want_place(void *place, uint64_t size_bytes, uint64_t position)
{
        heap_thread.record = NULL;
        heap_thread.has_place = false;
        heap_thread.record_bytes = (uint32_t)size_bytes;
        heap_thread.position = position;
        signal_fence();
        heap_thread.record = place;
        signal_fence();
}

static void get_place(void *place)
{
        heap_thread.has_place = true;
        signal_fence();
        heap_thread.record = place;
        signal_fence();
}

void ring_abandon(struct simpmu_slice *ring)
{
        if (ring && heap_thread.record && has_place(ring))
                publish(heap_thread.record, heap_thread.record_bytes, SIMPMU_PAD);
        heap_thread.record = NULL;
}

void *ring_reserve(struct simpmu_slice *ring, uint64_t size_bytes)
{
        char *bytes = (char *)ring + SIMPMU_SLICE_HEADER_BYTES;
        uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
        uint64_t padding;
        void *place;
        for (;;) {
                uint64_t to_end = SIMPMU_RING_BYTES - head % SIMPMU_RING_BYTES;
                padding = size_bytes <= to_end ? 0 : to_end;
                place = bytes + (head + padding) % SIMPMU_RING_BYTES;
                if (has_room(ring, head, padding + size_bytes)) {
                        want_place(padding ? NULL : place, size_bytes, head);
                        if (__atomic_compare_exchange_n(
                                &ring->head, &head, head + padding + size_bytes, true,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                                break;
                        continue;
                }
                if (!wait_for_room(ring, padding + size_bytes))
                        return NULL;
                head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
        }
        if (padding)
                publish(bytes + head % SIMPMU_RING_BYTES, padding, SIMPMU_PAD);
        get_place(place);
        uint64_t used = head - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);
        if (used < BELL_BYTES && used + padding + size_bytes >= BELL_BYTES)
                link_ring();
        return place;
}
