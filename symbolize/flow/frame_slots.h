/* SPDX-License-Identifier: MIT */
/* The spilled values in a frame by offset, pointers and numbers, and the bytes that other
 * code may write. Knows no variables and no instructions. */
#ifndef MEMLAG_SYMBOLIZE_FRAME_SLOTS_H
#define MEMLAG_SYMBOLIZE_FRAME_SLOTS_H

#include "place_value.h"

enum {
        FRAME_SLOTS = 24, /* spilled values; more are forgotten */
        FRAME_EXPOSED = 6
};

struct frame_slot {
        int64_t offset; /* in the frame */
        struct place_value value;
};

/* Bytes of the frame from LOW up to HIGH with an exposed address. */
struct frame_exposed {
        int64_t low;
        int64_t high;
};

struct frame_slots {
        struct frame_slot slots[FRAME_SLOTS];
        uint32_t count;
        struct frame_exposed exposed[FRAME_EXPOSED];
        uint32_t exposed_count;
};

/* The value at OFFSET; NULL: not known. */
const struct place_value *frame_slots_at(const struct frame_slots *slots, int64_t offset);
/* Stores VALUE in the eight bytes at OFFSET. */
void frame_slots_put(struct frame_slots *slots, int64_t offset,
                     const struct place_value *value);
/* Makes BYTES at OFFSET unknown. */
void frame_slots_drop(struct frame_slots *slots, int64_t offset, uint64_t bytes);
/* Notes that the address of ADDED is exposed; returns whether that is new. */
bool frame_slots_expose(struct frame_slots *slots, struct frame_exposed added);

/* After a write to an unknown place, perhaps of a number. */
void frame_slots_forget_numbers(struct frame_slots *slots);
/* Pointers in exposed bytes may have become VALUE, or (NULL) anything. */
void frame_slots_forget_exposed(struct frame_slots *slots, const struct types *types,
                                const struct place_value *value);

/* Joins FROM, of another path, into INTO; returns whether INTO changed. */
bool frame_slots_merge(struct frame_slots *into, const struct frame_slots *from,
                       const struct types *types);

#endif
