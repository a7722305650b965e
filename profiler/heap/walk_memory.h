/* SPDX-License-Identifier: MIT */
/* Walks up a stack that were made lately. A walk depends on where it began and on the
 * words of the stack that it read, each of which was found by those before it: where
 * these are the same, in the same order, so is what it found, and no other word is read
 * than the walk itself would read. Takes no memory of its own and calls nothing; shared
 * by all threads without a lock, and a thread that is taken out of the middle of writing
 * takes the row with it. */
#ifndef MEMLAG_HEAP_WALK_MEMORY_H
#define MEMLAG_HEAP_WALK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer walk is not kept. */
enum { WALK_WORDS = 56, WALK_ROWS = 512 };

/* What a walk begins with: all three registers, where the stack ends, and which rules
 * there are. */
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
        uint64_t hash; /* what was found */
        uint32_t depth;
        uint16_t count; /* of words; 0: nothing is kept */
        bool needs_bp;  /* the walk is of that frame pointer only */
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

/* Whether nobody has written there since VERSION was read: then what was read since is of
 * one writer. */
static inline bool walk_stands(const volatile struct walk *walk, uint64_t version)
{
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        return __atomic_load_n(&walk->version, __ATOMIC_RELAXED) == version;
}

/* Whether the walk from START would find what is kept for it; then that is *HASH and
 * *DEPTH. */
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

/* A row to be written for the walk from START; NULL: somebody else is writing there. */
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

/* The walk has read WORD at ADDRESS, which is not below its start. */
static inline void walk_note(struct walk *walk, uintptr_t address, uintptr_t word)
{
        if (walk->count >= WALK_WORDS) {
                walk->count = WALK_WORDS + 1;
                return;
        }
        walk->read[walk->count].offset = address - walk->start.sp;
        walk->read[walk->count++].word = word;
}

/* The walk is over; it is not kept unless it is WHOLE. NEEDS_BP: the frame pointer that
 * it began with led somewhere. */
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
