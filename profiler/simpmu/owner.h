/* SPDX-License-Identifier: MIT */
/* Whose a place in the ring is, where the threads of a target that runs as it is take
 * places at once (protocol.h). Each place is taken together with a note of who took it,
 * in one step; a note lasts until the next place is taken. Who takes that one first
 * writes down a claim for the owner of the former, unless its record counts already. So
 * there is no moment in which a place, until its record counts, is not known to be
 * somebody's, and of a certain size, wherever a thread is stopped for ever. */
#ifndef SIMPMU_OWNER_H
#define SIMPMU_OWNER_H

#include "protocol.h"

/* Linux has no higher thread ids. */
#define OWNER_TID_BITS 22
#define OWNER_TID_MASK ((UINT64_C(1) << OWNER_TID_BITS) - 1)
/* A note is the place's first byte, in units of 8 and modulo this many, and the tid. */
#define OWNER_START_MASK ((UINT64_C(1) << (64 - OWNER_TID_BITS)) - 1)
/* A claim is the lap around the ring, so that a late one is seen to be old, the place's
 * bytes in units of 8, and the tid. */
#define CLAIM_UNIT_BITS 11
#define CLAIM_UNIT_MASK ((UINT64_C(1) << CLAIM_UNIT_BITS) - 1)
#define CLAIM_LAP_SHIFT (OWNER_TID_BITS + CLAIM_UNIT_BITS)

struct owner {
        uint64_t start;      /* of the place, in bytes from the recording's start */
        uint64_t size_bytes; /* padding included */
        uint32_t tid;        /* as the process sees it; 0: nobody has taken a place yet */
};

static inline uint64_t owner_note(uint64_t start, uint32_t tid)
{
        return (start / 8 & OWNER_START_MASK) << OWNER_TID_BITS | tid;
}

/* What LAST, which goes with HEAD, says. */
static inline struct owner owner_of_last(uint64_t head, uint64_t last)
{
        uint64_t size_bytes =
            ((head / 8 - (last >> OWNER_TID_BITS)) & OWNER_START_MASK) * 8;

        return (struct owner){head - size_bytes, size_bytes,
                              (uint32_t)(last & OWNER_TID_MASK)};
}

static inline uint64_t owner_claim(struct owner owner)
{
        return (owner.start / SIMPMU_RING_BYTES + 1) << CLAIM_LAP_SHIFT |
               owner.size_bytes / 8 << OWNER_TID_BITS | owner.tid;
}

/* Where the claim for the place that begins at START is. No record is smaller than
 * SIMPMU_RECORD_MIN_BYTES, so that there is one place for each. */
static inline uint64_t *owner_claim_place(const struct simpmu_slice *slice,
                                          uint64_t start)
{
        uint64_t *claims =
            (uint64_t *)((char *)slice + SIMPMU_SLICE_HEADER_BYTES + SIMPMU_RING_BYTES);

        return &claims[start % SIMPMU_RING_BYTES / SIMPMU_RECORD_MIN_BYTES];
}

/* HEAD and LAST as they belong together: LAST never has one value twice. */
static inline void owner_read(const struct simpmu_slice *slice, uint64_t *head,
                              uint64_t *last)
{
        do {
                *last = __atomic_load_n(&slice->last, __ATOMIC_ACQUIRE);
                *head = __atomic_load_n(&slice->head, __ATOMIC_ACQUIRE);
        } while (__atomic_load_n(&slice->last, __ATOMIC_ACQUIRE) != *last);
}

/* Who has taken the place that begins at START. Tid 0: nobody, or its record counts. */
static inline struct owner owner_find(const struct simpmu_slice *slice, uint64_t start)
{
        uint64_t head, last, claim;
        struct owner owner;

        owner_read(slice, &head, &last);
        owner = owner_of_last(head, last);
        if (owner.start == start)
                return owner;
        claim = __atomic_load_n(owner_claim_place(slice, start), __ATOMIC_ACQUIRE);
        owner = (struct owner){start, (claim >> OWNER_TID_BITS & CLAIM_UNIT_MASK) * 8,
                               (uint32_t)(claim & OWNER_TID_MASK)};
        if (claim != owner_claim(owner))
                owner.tid = 0;
        return owner;
}

#endif
