/* SPDX-License-Identifier: MIT */
/* See shadow.h. */
#include "shadow.h"

#include "hot.h"

static uint64_t round_up(uint64_t value, uint64_t to)
{
        return (value + to - 1) / to * to;
}

void shadow_init(struct shadow *shadow, uint64_t first, uint64_t bytes,
                 sim_allocate allocate)
{
        *shadow = (struct shadow){
            .next_small = first,
            .first_large = first + bytes / 2,
            .next_large = first + bytes / 2,
            .end = first + bytes,
            .allocate = allocate,
        };
}

bool shadow_is_large(uint64_t bytes)
{
        return bytes >= SHADOW_LARGE_BYTES;
}

/* Of a small block with its header, and with room to align it. */
static uint64_t chunk_bytes(uint64_t bytes, uint32_t align)
{
        const uint64_t least = 2 * SHADOW_GRAIN_BYTES;
        const uint64_t room = align > SHADOW_GRAIN_BYTES ? align : 0;
        const uint64_t chunk =
            round_up(bytes + SHADOW_HEADER_BYTES, SHADOW_GRAIN_BYTES) + room;

        return chunk < least ? least : chunk;
}

/* The free blocks of the same size; NULL: too large to be used again. */
static struct shadow_free **free_of(struct shadow *shadow, uint64_t chunk)
{
        return chunk / SHADOW_GRAIN_BYTES < SHADOW_SIZES
                   ? &shadow->free[chunk / SHADOW_GRAIN_BYTES]
                   : NULL;
}

static uint64_t take_large(struct shadow *shadow, uint64_t bytes, uint32_t align)
{
        const uint64_t page_bytes = 1u << PAGE_SHIFT;
        const uint64_t least = align < SHADOW_GRAIN_BYTES ? SHADOW_GRAIN_BYTES : align;
        uint64_t address = round_up(shadow->next_large + SHADOW_GRAIN_BYTES, least);

        if (address + bytes > shadow->end)
                address = round_up(shadow->first_large + SHADOW_GRAIN_BYTES, least);
        shadow->next_large = round_up(address + bytes, page_bytes);
        return address;
}

uint64_t shadow_take(struct shadow *shadow, uint64_t bytes, uint32_t align)
{
        if (shadow_is_large(bytes))
                return take_large(shadow, bytes, align);
        const uint64_t chunk = chunk_bytes(bytes, align);
        struct shadow_free **list = free_of(shadow, chunk);
        if (list != NULL && *list != NULL) {
                struct shadow_free *freed = *list;
                *list = freed->next;
                freed->next = shadow->spare;
                shadow->spare = freed;
                return freed->address;
        }
        const uint64_t address = round_up(shadow->next_small + SHADOW_GRAIN_BYTES,
                                          align > SHADOW_GRAIN_BYTES ? align : 1);
        shadow->next_small += chunk;
        return address;
}

void shadow_give(struct shadow *shadow, uint64_t address, uint64_t bytes, uint32_t align)
{
        struct shadow_free **list =
            shadow_is_large(bytes) ? NULL : free_of(shadow, chunk_bytes(bytes, align));

        if (list == NULL)
                return;
        struct shadow_free *freed = shadow->spare;
        if (freed != NULL)
                shadow->spare = freed->next;
        else
                freed = shadow->allocate(sizeof(*freed));
        *freed = (struct shadow_free){*list, address};
        *list = freed;
}

uint64_t shadow_take_static(struct shadow *shadow, uint64_t bytes, uint32_t align)
{
        const uint64_t address = round_up(shadow->next_small, align);

        shadow->next_small = round_up(address + bytes, SHADOW_GRAIN_BYTES);
        return address;
}
