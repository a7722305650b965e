/* SPDX-License-Identifier: MIT */
/* Owners of records in the ring, for threads of a native target that reserve space
 * concurrently (protocol.h). A thread reserves space by changing one word. The word
 * holds the end of the latest reservation and its owner, until the next reservation.
 * The next thread first writes a claim for the previous owner, unless the previous
 * record is complete. So every incomplete reservation has a known owner and size at
 * any moment, wherever a thread stops for ever. */
#ifndef SIMPMU_OWNER_H
#define SIMPMU_OWNER_H

#include "protocol.h"

/* Linux has no higher thread ids. */
#define OWNER_TID_BITS 22
#define OWNER_TID_MASK ((UINT64_C(1) << OWNER_TID_BITS) - 1)
/* Of a place, in units of 8 bytes; a record with the padding before it is shorter. */
#define OWNER_SIZE_BITS 11
#define OWNER_SIZE_MASK ((UINT64_C(1) << OWNER_SIZE_BITS) - 1)
/* A note has tid, size, and above these the end of the reservation in units of 8
 * bytes, modulo 16 GiB. Two notes collide only if exactly that much is written while
 * one thread stops between two instructions. A claim has tid, size, and the lap around
 * the ring, which marks a late claim as old. */
#define OWNER_END_SHIFT (OWNER_TID_BITS + OWNER_SIZE_BITS)
#define OWNER_END_MASK  ((UINT64_C(1) << (64 - OWNER_END_SHIFT)) - 1)

struct owner {
        uint64_t start;      /* of the place, in bytes from the recording's start */
        uint64_t size_bytes; /* padding included */
        uint32_t tid;        /* as the process sees it; 0: nothing is reserved yet */
};

static inline uint64_t owner_note(struct owner owner)
{
        return (owner.start + owner.size_bytes) / 8 << OWNER_END_SHIFT |
               owner.size_bytes / 8 << OWNER_TID_BITS | owner.tid;
}

/* Decodes NOTE. It was read when the reader had come as far as SINCE or further. */
static inline struct owner owner_of_note(uint64_t note, uint64_t since)
{
        uint64_t end =
            since + (((note >> OWNER_END_SHIFT) - since / 8) & OWNER_END_MASK) * 8;
        uint64_t size_bytes = (note >> OWNER_TID_BITS & OWNER_SIZE_MASK) * 8;

        return (struct owner){end - size_bytes, size_bytes,
                              (uint32_t)(note & OWNER_TID_MASK)};
}

/* Where the latest place ends, not before SINCE. */
static inline uint64_t owner_head(const struct simpmu_slice *slice, uint64_t since)
{
        struct owner latest =
            owner_of_note(__atomic_load_n(&slice->latest, __ATOMIC_SEQ_CST), since);

        return latest.start + latest.size_bytes;
}

static inline uint64_t owner_claim(struct owner owner)
{
        return (owner.start / SIMPMU_RING_BYTES + 1) << OWNER_END_SHIFT |
               owner.size_bytes / 8 << OWNER_TID_BITS | owner.tid;
}

/* The address of the claim for the reservation that begins at START. No record is
 * smaller than SIMPMU_RECORD_MIN_BYTES, so each reservation has a separate claim. */
static inline uint64_t *owner_claim_place(const struct simpmu_slice *slice,
                                          uint64_t start)
{
        uint64_t *claims =
            (uint64_t *)((char *)slice + SIMPMU_SLICE_HEADER_BYTES + SIMPMU_RING_BYTES);

        return &claims[start % SIMPMU_RING_BYTES / SIMPMU_RECORD_MIN_BYTES];
}

/* The owner of the reservation that begins at START. Tid 0: there is none, or its
 * record is complete. */
static inline struct owner owner_find(const struct simpmu_slice *slice, uint64_t start)
{
        uint64_t note = __atomic_load_n(&slice->latest, __ATOMIC_ACQUIRE), claim;
        struct owner owner = owner_of_note(note, start);

        if (owner.start == start)
                return owner;
        claim = __atomic_load_n(owner_claim_place(slice, start), __ATOMIC_ACQUIRE);
        owner = (struct owner){start, (claim >> OWNER_TID_BITS & OWNER_SIZE_MASK) * 8,
                               (uint32_t)(claim & OWNER_TID_MASK)};
        if (claim != owner_claim(owner))
                owner.tid = 0;
        return owner;
}

#endif
