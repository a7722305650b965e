/* SPDX-License-Identifier: MIT */
/* The producer's side of the ring that all threads of a process write to. A thread may
 * leave any of this in the middle, and for ever: see simpmu/owner.h. */
#include "heap_ring.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

#include "../simpmu/owner.h"
#include "heap_calls.h"
#include "heap_thread.h"
#include "link.h"

/* Fill level at which memlag is notified. */
#define BELL_BYTES (SIMPMU_RING_BYTES / 4)
/* How long to wait for room before asking whether memlag still lives. */
#define WAIT_NS 100000000

/* ---- room ---- */

static bool has_room(const struct simpmu_slice *ring, uint64_t head, uint64_t bytes)
{
        return head + bytes - __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST) <=
               SIMPMU_RING_BYTES;
}

static uint64_t head_of(const struct simpmu_slice *ring)
{
        return owner_head(ring, __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST));
}

/* False when no reader will make room. */
static bool wait_for_room(struct simpmu_slice *ring, uint64_t bytes)
{
        const struct timespec limit = {.tv_nsec = WAIT_NS};
        for (;;) {
                uint32_t seen = __atomic_load_n(&ring->space_futex, __ATOMIC_ACQUIRE);
                __atomic_store_n(&ring->producer_waits, 1, __ATOMIC_SEQ_CST);
                if (has_room(ring, head_of(ring), bytes))
                        return true;
                if (link_is_gone())
                        return false;
                link_ring();
                calls_do(SYS_futex, (long)&ring->space_futex, FUTEX_WAIT, seen,
                         (long)&limit, 0, 0);
        }
}

/* ---- positions ---- */

static uint64_t *word_at(struct simpmu_slice *ring, uint64_t position)
{
        char *bytes = (char *)ring + SIMPMU_SLICE_HEADER_BYTES;
        return (uint64_t *)(bytes + position % SIMPMU_RING_BYTES);
}

static void publish(uint64_t *word, uint64_t size_bytes, enum simpmu_record_type type)
{
        __atomic_store_n(word, size_bytes | (uint64_t)type << 32, __ATOMIC_RELEASE);
}

/* Where a record of SIZE_BYTES does not fit before the ring's end, padding does. */
static uint64_t padding_at(uint64_t position, uint64_t size_bytes)
{
        uint64_t to_end = SIMPMU_RING_BYTES - position % SIMPMU_RING_BYTES;
        return size_bytes <= to_end ? 0 : to_end;
}

/* Claims the latest record for its OWNER, if the owner is another thread and the record
 * is uncommitted. A late claim does no harm: other records have overwritten the position
 * by then. */
static void claim_for(struct simpmu_slice *ring, struct owner owner)
{
        if (owner.tid == 0 || owner.tid == heap_thread.tid ||
            __atomic_load_n(word_at(ring, owner.start), __ATOMIC_ACQUIRE) != 0)
                return;
        uint64_t claim = owner_claim(owner);
        uint64_t *place = owner_claim_place(ring, owner.start);
        uint64_t there = __atomic_load_n(place, __ATOMIC_RELAXED);
        while (there < claim &&
               !__atomic_compare_exchange_n(place, &there, claim, true, __ATOMIC_ACQ_REL,
                                            __ATOMIC_RELAXED))
                ;
}

/* Notes the record that the thread is about to reserve. */
static void want_place(uint64_t position, uint64_t size_bytes)
{
        heap_thread.writes = false;
        signal_fence();
        heap_thread.position = position;
        heap_thread.record_bytes = (uint32_t)size_bytes;
        signal_fence();
        heap_thread.writes = true;
        signal_fence();
}

void *ring_reserve(struct simpmu_slice *ring, uint64_t size_bytes)
{
        uint64_t head, bytes;
        for (;;) {
                uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
                uint64_t note = __atomic_load_n(&ring->latest, __ATOMIC_ACQUIRE);
                struct owner latest = owner_of_note(note, tail);
                head = latest.start + latest.size_bytes;
                bytes = padding_at(head, size_bytes) + size_bytes;
                if (has_room(ring, head, bytes)) {
                        claim_for(ring, latest);
                        want_place(head, size_bytes);
                        struct owner own = {head, bytes, heap_thread.tid};
                        if (__atomic_compare_exchange_n(
                                &ring->latest, &note, owner_note(own), false,
                                __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
                                break;
                } else if (!wait_for_room(ring, bytes)) {
                        return NULL;
                }
        }
        uint64_t used = head - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);
        if (used < BELL_BYTES && used + bytes >= BELL_BYTES)
                link_ring();
        return word_at(ring, head + bytes - size_bytes);
}

/* Padding is committed last: the reader reaches it first. */
static void publish_with_padding(struct simpmu_slice *ring, enum simpmu_record_type type)
{
        uint64_t position = heap_thread.position;
        uint64_t padding = padding_at(position, heap_thread.record_bytes);
        publish(word_at(ring, position + padding), heap_thread.record_bytes, type);
        if (padding)
                publish(word_at(ring, position), padding, SIMPMU_PAD);
}

void ring_commit(struct simpmu_slice *ring, enum simpmu_record_type type)
{
        publish_with_padding(ring, type);
        signal_fence();
        heap_thread.writes = false;
}

/* Returns true if the thread owns its reserved record, and the record is uncommitted.
 * The position of a read record may look uncommitted, but memlag has advanced `taken`
 * before. */
static bool has_unwritten_place(struct simpmu_slice *ring)
{
        uint64_t position = heap_thread.position;
        return owner_find(ring, position).tid == heap_thread.tid &&
               __atomic_load_n(word_at(ring, position), __ATOMIC_ACQUIRE) == 0 &&
               __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE) <= position;
}

void ring_abandon(struct simpmu_slice *ring)
{
        if (heap_thread.writes && has_unwritten_place(ring))
                publish_with_padding(ring, SIMPMU_PAD);
        heap_thread.writes = false;
}
