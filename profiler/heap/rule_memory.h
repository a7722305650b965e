/* SPDX-License-Identifier: MIT */
/* A cache of unwind rules: one word per code address. Shared by all threads without a
 * lock. A row's two words may come from different writers. Their exclusive or shows
 * whether they belong together. Takes no memory of its own and calls nothing; does not
 * interpret rules. */
#ifndef MEMLAG_HEAP_RULE_MEMORY_H
#define MEMLAG_HEAP_RULE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set is one cache line, selected by a hash of the address. Libraries at a fixed
 * distance may collide in each run. The number of ways absorbs such collisions. */
enum { RULE_MEMORY_WAYS = 4, RULE_MEMORY_SET_BITS = 13 };

struct rule_memory_row {
        uint64_t check; /* hash of the address ^ word ^ generation */
        uint64_t word;
};

/* Zeroed: empty. */
struct rule_memory {
        _Alignas(
            64) struct rule_memory_row sets[1 << RULE_MEMORY_SET_BITS][RULE_MEMORY_WAYS];
        uint64_t generation;
};

/* No two addresses have the same, as the factor is odd. Its upper bits choose the set. */
static inline uint64_t rule_memory_hash(uint64_t address)
{
        return address * UINT64_C(0x9e3779b97f4a7c15);
}

static inline struct rule_memory_row *rule_memory_set(struct rule_memory *memory,
                                                      uint64_t hash)
{
        return memory->sets[hash >> (64 - RULE_MEMORY_SET_BITS)];
}

/* Changes whenever the cache is invalidated. */
static inline uint64_t rule_memory_generation(const struct rule_memory *memory)
{
        return __atomic_load_n(&memory->generation, __ATOMIC_RELAXED);
}

/* Makes a row of zeros match no address. */
static inline uint64_t rule_memory_key(const struct rule_memory *memory, uint64_t hash)
{
        return hash ^ ~rule_memory_generation(memory);
}

/* Finds the cached word for ADDRESS and stores it in *WORD; false: not cached. */
static inline bool rule_memory_find(struct rule_memory *memory, uint64_t address,
                                    uint64_t *word)
{
        uint64_t hash = rule_memory_hash(address);
        uint64_t key = rule_memory_key(memory, hash);
        const struct rule_memory_row *set = rule_memory_set(memory, hash);
        for (size_t way = 0; way < RULE_MEMORY_WAYS; way++) {
                *word = __atomic_load_n(&set[way].word, __ATOMIC_RELAXED);
                if ((__atomic_load_n(&set[way].check, __ATOMIC_RELAXED) ^ *word) == key)
                        return true;
        }
        return false;
}

/* Caches WORD for ADDRESS; a full set drops its oldest word. An interrupted writer
 * leaves invalid rows. */
static inline void rule_memory_keep(struct rule_memory *memory, uint64_t address,
                                    uint64_t word)
{
        uint64_t hash = rule_memory_hash(address);
        struct rule_memory_row *set = rule_memory_set(memory, hash);
        for (size_t way = RULE_MEMORY_WAYS - 1; way > 0; way--) {
                uint64_t check = __atomic_load_n(&set[way - 1].check, __ATOMIC_RELAXED);
                uint64_t moved = __atomic_load_n(&set[way - 1].word, __ATOMIC_RELAXED);
                __atomic_store_n(&set[way].word, moved, __ATOMIC_RELAXED);
                __atomic_store_n(&set[way].check, check, __ATOMIC_RELAXED);
        }
        uint64_t key = rule_memory_key(memory, hash);
        __atomic_store_n(&set[0].word, word, __ATOMIC_RELAXED);
        __atomic_store_n(&set[0].check, key ^ word, __ATOMIC_RELAXED);
}

/* Invalidates all cached words. */
static inline void rule_memory_forget(struct rule_memory *memory)
{
        __atomic_fetch_add(&memory->generation, UINT64_C(1) << 48, __ATOMIC_RELAXED);
}

#endif
