/* SPDX-License-Identifier: MIT */
/* The call stacks that an image's tracker sent, each once, by the hash that later
 * records use. */
#ifndef MEMLAG_HEAP_STACKS_H
#define MEMLAG_HEAP_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "heap_transport.h"

/* The most that a stack has. */
enum { HEAP_STACK_FRAMES = 128 };

struct heap_stacks {
        struct heap_stack_slot *slots;
        size_t slot_count; /* 0, or a power of two */
        size_t used;
        struct heap_stack_chunk *chunks; /* that the stacks are in, the newest first */
        size_t room;                     /* left in that */
        struct heap_stack *latest;       /* added, with its hash */
        uint64_t latest_hash;
};

/* Returns the stack HASH; NULL: unknown. */
struct heap_stack *heap_stacks_find(const struct heap_stacks *stacks, uint64_t hash);

/* The frames of STACK: return addresses, innermost first. */
void heap_stack_frames(const struct heap_stack *stack,
                       uint64_t frames[HEAP_STACK_FRAMES]);

/* Adds the stack HASH of DEPTH FRAMES, innermost first, from image NUMBER, unless it
 * exists. Deeper stacks lose their outermost frames. 0 or -ENOMEM. */
int heap_stacks_add(struct heap_stacks *stacks, uint64_t hash, size_t number,
                    const uint64_t *frames, uint32_t depth);

/* Makes it empty, as zeroes are. */
void heap_stacks_free(struct heap_stacks *stacks);

#endif
