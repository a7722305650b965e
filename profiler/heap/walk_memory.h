/* SPDX-License-Identifier: MIT */
/* A cache of recent stack walks. A walk depends on its start and on the stack words that
 * it read; earlier words determine the addresses of later words. If start and words are
 * the same, in the same order, the result is the same. A lookup reads no other words
 * than the walk itself.
 *
 * Takes no memory of its own and calls nothing; shared by all threads without a lock. A
 * row is lost if its writer is interrupted for ever. */
#ifndef MEMLAG_HEAP_WALK_MEMORY_H
#define MEMLAG_HEAP_WALK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer walks are not cached. */
enum { WALK_WORDS = 56, WALK_ROWS = 512 };

/* Start of a walk: all three registers, the stack's end, and the rule generation. */
struct walk_start {
        uintptr_t pc;
        uintptr_t sp;
        uintptr_t bp;
        uintptr_t end;
        uint64_t rules;
};

struct walk {
        uint64_t version; /* odd: it is being written */
        struct walk_start start;
        uint64_t hash; /* the result */
        uint32_t depth;
        uint16_t count; /* of words; 0: the row is empty */
        bool needs_bp;  /* valid only for that frame pointer */
        struct {
                uint64_t offset; /* from SP, in bytes */
                uintptr_t word;
        } read[WALK_WORDS];
};

/* Zeroed: empty. */
struct walk_memory {
        _Alignas(64) struct walk rows[WALK_ROWS];
};

static inline struct walk *walk_row(struct walk_memory *memory,
                                    const struct walk_start *start)
{
        uint64_t hash = (start->pc ^ start->sp << 20) * UINT64_C(0x9e3779b97f4a7c15);
        return &memory->rows[(hash >> 32) % WALK_ROWS];
}

static inline bool walk_is_of(const volatile struct walk *walk,
                              const struct walk_start *start)
{
        return walk->start.pc == start->pc && walk->start.sp == start->sp &&
               (walk->start.bp == start->bp || !walk->needs_bp) &&
               walk->start.end == start->end && walk->start.rules == start->rules;
}

/* Returns true if the row was not written since VERSION was read: the reads since then
 * belong to one writer. */
static inline bool walk_stands(const volatile struct walk *walk, uint64_t version)
{
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        return __atomic_load_n(&walk->version, __ATOMIC_RELAXED) == version;
}

/* Returns true if the cached walk from START is still valid; then *HASH and *DEPTH are
 * its result. */
static inline bool walk_find(struct walk_memory *memory, const struct walk_start *start,
                             uint64_t *hash, size_t *depth)
{
        const volatile struct walk *walk = walk_row(memory, start);
        uint64_t version = __atomic_load_n(&walk->version, __ATOMIC_ACQUIRE);
        size_t count = walk->count;
        if (version % 2 || count == 0 || count > WALK_WORDS || !walk_is_of(walk, start))
                return false;
        for (size_t i = 0; i < count; i++) {
                uintptr_t address = start->sp + walk->read[i].offset;
                uintptr_t word = walk->read[i].word;
                if (!walk_stands(walk, version) || *(const uintptr_t *)address != word)
                        return false;
        }
        uint64_t found = walk->hash;
        size_t frames = walk->depth;
        if (!walk_stands(walk, version))
                return false;
        *hash = found;
        *depth = frames;
        return true;
}

/* Locks a row for the walk from START; NULL: another thread is writing the row. */
static inline struct walk *walk_begin(struct walk_memory *memory,
                                      const struct walk_start *start)
{
        struct walk *walk = walk_row(memory, start);
        uint64_t version = __atomic_load_n(&walk->version, __ATOMIC_RELAXED);
        if (version % 2 ||
            !__atomic_compare_exchange_n(&walk->version, &version, version + 1, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                return NULL;
        __atomic_thread_fence(__ATOMIC_RELEASE);
        walk->start = *start;
        walk->count = 0;
        return walk;
}

/* Records that the walk has read WORD at ADDRESS, which is not below its start. */
static inline void walk_note(struct walk *walk, uintptr_t address, uintptr_t word)
{
        if (walk->count >= WALK_WORDS) {
                walk->count = WALK_WORDS + 1;
                return;
        }
        walk->read[walk->count].offset = address - walk->start.sp;
        walk->read[walk->count++].word = word;
}

/* Ends the walk, and caches it only if it is WHOLE. NEEDS_BP: the walk used the initial
 * frame pointer. */
static inline void walk_end(struct walk *walk, uint64_t hash, size_t depth, bool needs_bp,
                            bool whole)
{
        walk->hash = hash;
        walk->depth = (uint32_t)depth;
        walk->needs_bp = needs_bp;
        if (!whole || walk->count > WALK_WORDS)
                walk->count = 0;
        __atomic_fetch_add(&walk->version, 1, __ATOMIC_RELEASE);
}

#endif
