/* SPDX-License-Identifier: MIT */
#include "frame_slots.h"

#include <string.h>

static void drop(struct frame_slots *slots, uint32_t at)
{
        slots->slots[at] = slots->slots[--slots->count];
}

const struct place_value *frame_slots_at(const struct frame_slots *slots, int64_t offset)
{
        for (uint32_t i = 0; i < slots->count; i++)
                if (slots->slots[i].offset == offset)
                        return &slots->slots[i].value;
        return NULL;
}

void frame_slots_drop(struct frame_slots *slots, int64_t offset, uint64_t bytes)
{
        for (uint32_t i = 0; i < slots->count;) {
                uint64_t behind = (uint64_t)slots->slots[i].offset - (uint64_t)offset;

                if (behind < bytes || 0 - behind < 8)
                        drop(slots, i);
                else
                        i++;
        }
}

void frame_slots_put(struct frame_slots *slots, int64_t offset,
                     const struct place_value *value)
{
        frame_slots_drop(slots, offset, 8);
        if (value->kind == PLACE_UNKNOWN)
                return;
        if (slots->count == FRAME_SLOTS) /* the oldest is dropped */
                memmove(slots->slots, slots->slots + 1,
                        (--slots->count) * sizeof(*slots->slots));
        slots->slots[slots->count++] = (struct frame_slot){offset, *value};
}

/* ---- exposed bytes ---- */

static bool is_exposed(const struct frame_slots *slots, int64_t offset)
{
        for (uint32_t i = 0; i < slots->exposed_count; i++)
                if (offset >= slots->exposed[i].low && offset < slots->exposed[i].high)
                        return true;
        return false;
}

/* If there is no room, joins ADDED with the last range. */
bool frame_slots_expose(struct frame_slots *slots, struct frame_exposed added)
{
        struct frame_exposed *last = &slots->exposed[FRAME_EXPOSED - 1];

        if (added.low >= added.high)
                return false;
        for (uint32_t i = 0; i < slots->exposed_count; i++)
                if (added.low >= slots->exposed[i].low &&
                    added.high <= slots->exposed[i].high)
                        return false;
        if (slots->exposed_count < FRAME_EXPOSED) {
                slots->exposed[slots->exposed_count++] = added;
                return true;
        }
        last->low = added.low < last->low ? added.low : last->low;
        last->high = added.high > last->high ? added.high : last->high;
        return true;
}

void frame_slots_forget_numbers(struct frame_slots *slots)
{
        for (uint32_t i = 0; i < slots->count;) {
                if (slots->slots[i].value.kind == PLACE_NUMBER)
                        drop(slots, i);
                else
                        i++;
        }
}

void frame_slots_forget_exposed(struct frame_slots *slots, const struct types *types,
                                const struct place_value *value)
{
        for (uint32_t i = 0; i < slots->count;) {
                struct frame_slot *slot = &slots->slots[i];

                if (slot->value.kind != PLACE_POINTER ||
                    !is_exposed(slots, slot->offset)) {
                        i++;
                        continue;
                }
                struct place_value both =
                    value ? place_meet(types, &slot->value, value) : place_unknown;

                if (both.kind == PLACE_UNKNOWN)
                        drop(slots, i);
                else
                        slots->slots[i++].value = both;
        }
}

bool frame_slots_merge(struct frame_slots *into, const struct frame_slots *from,
                       const struct types *types)
{
        bool changed = false;

        for (uint32_t i = 0; i < from->exposed_count; i++)
                changed |= frame_slots_expose(into, from->exposed[i]);
        for (uint32_t i = 0; i < into->count;) {
                struct frame_slot *slot = &into->slots[i];
                const struct place_value *other = frame_slots_at(from, slot->offset);
                struct place_value value =
                    other ? place_meet(types, &slot->value, other) : place_unknown;

                if (place_same(&value, &slot->value)) {
                        i++;
                        continue;
                }
                changed = true;
                if (value.kind == PLACE_UNKNOWN)
                        drop(into, i);
                else
                        into->slots[i++].value = value;
        }
        return changed;
}
