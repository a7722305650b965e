/* SPDX-License-Identifier: MIT */
/* A hash table with linear probing. The stacks themselves stay where they are, one behind
 * the other, and go together. */
#include "heap_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "large_table.h"

enum { FIRST_SLOTS = 256, FIRST_CHUNK = 1 << 14, LAST_CHUNK = 1 << 22 };

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
        /* Mostly what was told just before. */
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

/* A chunk more, with room for BYTES at least; each has twice as many as the one before.
 */
static int add_chunk(struct heap_stacks *stacks, size_t bytes)
{
        size_t size = stacks->chunks ? 2 * stacks->chunks->bytes : FIRST_CHUNK;
        if (size > LAST_CHUNK)
                size = LAST_CHUNK;
        if (size < bytes)
                size = bytes;
        struct heap_stack_chunk *chunk = large_table_new(sizeof(*chunk) + size);
        if (!chunk)
                return -ENOMEM;
        chunk->next = stacks->chunks;
        chunk->bytes = size;
        stacks->chunks = chunk;
        stacks->room = size;
        return 0;
}

static size_t stack_bytes(uint32_t depth)
{
        return sizeof(struct heap_stack) + depth * sizeof(uint64_t);
}

static struct heap_stack *stack_new(struct heap_stacks *stacks, uint32_t depth)
{
        size_t bytes = stack_bytes(depth);
        if (stacks->room < bytes && add_chunk(stacks, bytes))
                return NULL;
        char *memory = stacks->chunks->memory + stacks->chunks->bytes - stacks->room;
        stacks->room -= bytes;
        return (struct heap_stack *)memory;
}

/* While the stack is copied, the memory answers what stands in its slot. */
int heap_stacks_add(struct heap_stacks *stacks, uint64_t hash, size_t number,
                    const uint64_t *frames, uint32_t depth)
{
        if (3 * stacks->used >= 2 * stacks->slot_count && grow(stacks))
                return -ENOMEM;
        __builtin_prefetch(&stacks->slots[first_slot(hash, stacks->slot_count)], 1);
        struct heap_stack *stack = stack_new(stacks, depth);
        if (!stack)
                return -ENOMEM;
        *stack = (struct heap_stack){.number = number, .depth = depth};
        memcpy(stack->frames, frames, depth * sizeof(frames[0]));
        struct heap_stack_slot *slot = probe(stacks->slots, stacks->slot_count, hash);
        if (slot->stack) {
                stacks->room += stack_bytes(depth);
                return 0;
        }
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
