/* SPDX-License-Identifier: MIT */
/* What the unwinder found for addresses of code, one word for each. Shared by all threads
 * without a lock: a row's words may be of different writers, and count only when both are
 * of the same, which their exclusive or shows. Takes no memory of its own and calls
 * nothing; knows nothing of rules. */
#ifndef MEMLAG_HEAP_RULE_MEMORY_H
#define MEMLAG_HEAP_RULE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set is one line of the cache. An address has its set by a hash, in which those of
 * libraries that lie at the same distance in each run may meet in each run: then there is
 * room for so many. */
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

/* Another one, as soon as nothing is found any more. */
static inline uint64_t rule_memory_generation(const struct rule_memory *memory)
{
        return __atomic_load_n(&memory->generation, __ATOMIC_RELAXED);
}

/* So that a row of zeros is of nothing. */
static inline uint64_t rule_memory_key(const struct rule_memory *memory, uint64_t hash)
{
        return hash ^ ~rule_memory_generation(memory);
}

/* Whether the word kept for ADDRESS is still there; then it is *WORD. */
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

/* Keeps WORD for ADDRESS; of a full set the word that was kept first is lost. A thread
 * that is taken out of this leaves rows that do not count. */
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

/* Nothing that was kept is found any more. */
static inline void rule_memory_forget(struct rule_memory *memory)
{
        __atomic_fetch_add(&memory->generation, UINT64_C(1) << 48, __ATOMIC_RELAXED);
}

#endif
