/* SPDX-License-Identifier: MIT */
/* A hash table with linear probing. The stacks themselves do not move; they are stored
 * consecutively and freed together. Deep stacks are mostly recursive: each frame is
 * stored as the difference from the previous frame, seven bits per byte, with the sign
 * in the lowest bit. */
#include "heap_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "large_table.h"

enum { FIRST_SLOTS = 256, FIRST_CHUNK = 1 << 14, LAST_CHUNK = 1 << 22, FRAME_BYTES = 10 };

struct heap_stack_slot {
        uint64_t hash;
        struct heap_stack *stack; /* NULL: free */
};

struct heap_stack_chunk {
        struct heap_stack_chunk *next;
        size_t bytes;
        _Alignas(struct heap_stack) char memory[];
};

static size_t first_slot(uint64_t hash, size_t slot_count)
{
        return (hash ^ hash >> 32) & (slot_count - 1);
}

static struct heap_stack_slot *probe(struct heap_stack_slot *slots, size_t slot_count,
                                     uint64_t hash)
{
        size_t i = first_slot(hash, slot_count);
        while (slots[i].stack && slots[i].hash != hash)
                i = (i + 1) & (slot_count - 1);
        return &slots[i];
}

struct heap_stack *heap_stacks_find(const struct heap_stacks *stacks, uint64_t hash)
{
        /* Most lookups repeat the previous stack. */
        if (stacks->latest && stacks->latest_hash == hash)
                return stacks->latest;
        return stacks->slot_count ? probe(stacks->slots, stacks->slot_count, hash)->stack
                                  : NULL;
}

static int grow(struct heap_stacks *stacks)
{
        size_t slot_count = stacks->slot_count ? 2 * stacks->slot_count : FIRST_SLOTS;
        struct heap_stack_slot *slots = large_table_new(slot_count * sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < stacks->slot_count; i++)
                if (stacks->slots[i].stack)
                        *probe(slots, slot_count, stacks->slots[i].hash) =
                            stacks->slots[i];
        large_table_free(stacks->slots, stacks->slot_count * sizeof(*slots));
        stacks->slots = slots;
        stacks->slot_count = slot_count;
        return 0;
}

/* Adds a chunk with room for at least BYTES. Each chunk is twice as large as the
 * previous one, up to whole large pages. */
static int add_chunk(struct heap_stacks *stacks, size_t bytes)
{
        struct heap_stack_chunk *chunk;
        size_t size =
            stacks->chunks ? 2 * (sizeof(*chunk) + stacks->chunks->bytes) : FIRST_CHUNK;
        if (size > LAST_CHUNK)
                size = LAST_CHUNK;
        if (size < sizeof(*chunk) + bytes)
                size = sizeof(*chunk) + bytes;
        chunk = large_table_new(size);
        if (!chunk)
                return -ENOMEM;
        chunk->next = stacks->chunks;
        chunk->bytes = size - sizeof(*chunk);
        stacks->chunks = chunk;
        stacks->room = chunk->bytes;
        return 0;
}

static uint8_t *pack(uint8_t *to, const uint64_t *frames, uint32_t depth)
{
        uint64_t before = 0;
        for (uint32_t i = 0; i < depth; i++) {
                uint64_t step = frames[i] - before;
                step = step << 1 ^ -(step >> 63);
                for (; step >= 0x80; step >>= 7)
                        *to++ = (uint8_t)(step | 0x80);
                *to++ = (uint8_t)step;
                before = frames[i];
        }
        return to;
}

void heap_stack_frames(const struct heap_stack *stack, uint64_t frames[HEAP_STACK_FRAMES])
{
        const uint8_t *from = stack->packed;
        uint64_t frame = 0;
        for (uint32_t i = 0; i < stack->depth; i++) {
                uint64_t step = *from & 0x7f;
                for (unsigned shift = 7; *from++ & 0x80; shift += 7)
                        step |= (uint64_t)(*from & 0x7f) << shift;
                frame += step >> 1 ^ -(step & 1);
                frames[i] = frame;
        }
}

/* Finds memory for a stack of DEPTH frames; take_room then claims the used part. */
static struct heap_stack *find_room(struct heap_stacks *stacks, uint32_t depth)
{
        size_t bytes =
            sizeof(struct heap_stack) + depth * FRAME_BYTES + _Alignof(struct heap_stack);
        if (stacks->room < bytes && add_chunk(stacks, bytes))
                return NULL;
        return (struct heap_stack *)(stacks->chunks->memory + stacks->chunks->bytes -
                                     stacks->room);
}

static void take_room(struct heap_stacks *stacks, const struct heap_stack *stack,
                      const uint8_t *end)
{
        const size_t align = _Alignof(struct heap_stack);
        size_t bytes = (size_t)(end - (const uint8_t *)stack);
        stacks->room -= (bytes + align - 1) / align * align;
}

/* Prefetches the stack's slot: memory delivers it while the stack is packed. */
int heap_stacks_add(struct heap_stacks *stacks, uint64_t hash, size_t number,
                    const uint64_t *frames, uint32_t depth)
{
        if (depth > HEAP_STACK_FRAMES)
                depth = HEAP_STACK_FRAMES;
        if (3 * stacks->used >= 2 * stacks->slot_count && grow(stacks))
                return -ENOMEM;
        __builtin_prefetch(&stacks->slots[first_slot(hash, stacks->slot_count)], 1);
        struct heap_stack *stack = find_room(stacks, depth);
        if (!stack)
                return -ENOMEM;
        *stack = (struct heap_stack){.number = number, .depth = depth};
        const uint8_t *end = pack(stack->packed, frames, depth);
        struct heap_stack_slot *slot = probe(stacks->slots, stacks->slot_count, hash);
        if (slot->stack)
                return 0;
        take_room(stacks, stack, end);
        *slot = (struct heap_stack_slot){hash, stack};
        stacks->used++;
        stacks->latest = stack;
        stacks->latest_hash = hash;
        return 0;
}

void heap_stacks_free(struct heap_stacks *stacks)
{
        while (stacks->chunks) {
                struct heap_stack_chunk *chunk = stacks->chunks;
                stacks->chunks = chunk->next;
                large_table_free(chunk, sizeof(*chunk) + chunk->bytes);
        }
        large_table_free(stacks->slots, stacks->slot_count * sizeof(*stacks->slots));
        *stacks = (struct heap_stacks){0};
}
