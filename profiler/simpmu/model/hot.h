/* SPDX-License-Identifier: MIT */
/* State of the generated code and of the functions that most of it calls: the filters for
 * most L1 hits, and the running thread's counts and ready times. One thread of the simulated
 * program runs at a time, and this is its state; the rest of a thread's state is in
 * thread.h.
 *
 * The unit of time is a slot: the 1/width part of a cycle in which one instruction
 * issues. A thread's clock is instructions + stall slots. */
#ifndef SIMPMU_MODEL_HOT_H
#define SIMPMU_MODEL_HOT_H

#include <stdbool.h>
#include <stdint.h>

#define LINE_SHIFT      6
#define LINE_BYTES      (1u << LINE_SHIFT)
#define PAGE_SHIFT      12
#define PAGE_LINE_SHIFT (PAGE_SHIFT - LINE_SHIFT)
#define FILTER_ENTRIES  1024u
#define FILTER_EMPTY    (1ull << 63) /* no program has memory near this address */
#define FILTER_WATCHED  (1ull << 62) /* nor near this: see watch.h */

/* Values that may be late have a number each, and a bit in masks. Guest registers
 * begin at FIRST_REGISTER. MULTIPLIER stands for the execution unit of slow
 * arithmetic; it is "ready" when the unit is free. Then come the loads of the running
 * block (slots); surplus loads share the last slot. ISSUE_TIME is no value: in the
 * instrumentation's masks its bit says that arithmetic issues in the block. NO_VALUE
 * is always ready. UNUSED_VALUE receives times that nobody waits for. */
#define FIRST_REGISTER 0u
#define MULTIPLIER     33u
#define FIRST_SLOT     34u
#define LAST_SLOT      61u
#define ISSUE_TIME     62u
#define NO_VALUE       63u
#define UNUSED_VALUE   64u
#define VALUES         65u

/* The last stores whose values loads may have to wait for, by address. There is an
 * entry for every four bytes, and more entries than places in any store buffer. */
#define STORED_PLACES 256u
#define STORED_SHIFT  2
/* An address is below this bit, and above it a FORM. */
#define STORED_FORM_SHIFT 48

/* How an access is written: a code of its size, and FORM_VECTOR where its data is in a
 * vector register, else a number of its address. The same number and the same address
 * mean the same register, unchanged, and the same displacement (of the stack pointer
 * any). */
#define FORM_SIZE_SHIFT        13
#define FORM_DISPLACEMENT_BITS 8
#define FORM_UNKNOWN           0u
#define FORM_VECTOR            ((1u << FORM_SIZE_SHIFT) - 1)

/* 0, as most accesses have it, stands for eight bytes, 1 for one. */
static inline uint32_t stored_size_code(uint32_t bytes)
{
        uint32_t logarithm = 31u - (uint32_t)__builtin_clz(bytes | 1);

        return (logarithm == 3  ? 0
                : logarithm < 3 ? logarithm + 1
                                : logarithm)
               << FORM_SIZE_SHIFT;
}

static inline uint32_t stored_bytes(uint32_t form)
{
        uint32_t code = form >> FORM_SIZE_SHIFT;

        return code == 0 ? 8 : 1u << (code < 4 ? code - 1 : code);
}

/* The last store to a word of eight bytes, where stores are followed. */
#define RECENT_STORES       256u
#define RECENT_WORD_SHIFT   3
#define RECENT_WORD_BYTES   (1u << RECENT_WORD_SHIFT)
#define RECENT_SIZE_BITS    6
#define RECENT_SIZE_MAXIMUM 32u /* bytes; instructions that store more are left out */

/* A load aliases with a store to another page if the low address bits are equal. The
 * search covers this many bytes behind a store stream. */
#define ALIAS_BITS  12
#define ALIAS_REACH 256u /* bytes, a power of two */

/* The note of a store of BYTES at ADDRESS. At one address the longest store has the
 * least note, so one comparison finds all shorter stores. */
static inline uint64_t recent_store_note(uint64_t address, uint32_t bytes)
{
        return address << RECENT_SIZE_BITS | (RECENT_SIZE_MAXIMUM - bytes);
}

static inline uint64_t recent_store_end(uint64_t note)
{
        return (note >> RECENT_SIZE_BITS) + RECENT_SIZE_MAXIMUM -
               (note & ((1u << RECENT_SIZE_BITS) - 1));
}

/* The progress of a repeated string instruction: the chunk numbers of its last load
 * and last store, counted from address 0. 0: it has made no such access, or no string
 * instruction runs. */
struct string_chunks {
        uint64_t load;
        uint64_t store;
};

/* Lines of code that are decoded and marked recent: one more use changes nothing. Used
 * where the front end is followed. */
#define CODE_LINES   512u
#define NO_CODE_LINE UINT64_MAX

/* The limit that makes generated code call the model before each stretch of code. */
#define FETCH_EACH_STRETCH (1ull << 63)

struct sim_hot {
        /* Addresses of settled L1 lines that are marked recent: one more hit changes
         * nothing. STORES_PASS: only dirty lines. An access hits when it ends no more
         * than a line above. Lines with the same entry evict each other; there are
         * more entries than most L1s have lines. Addresses of watched lines have
         * FILTER_WATCHED added, so that accesses to them do not hit. */
        uint64_t loads_pass[FILTER_ENTRIES];
        uint64_t stores_pass[FILTER_ENTRIES];
        uint64_t instructions; /* retired by the running thread */
        uint64_t loads;        /* retired by the running thread */
        uint64_t stores;       /* the same */
        uint64_t busy;         /* extra slots of its arithmetic */
        uint64_t stall;   /* the running thread's, at the last update of its windows */
        uint64_t fetched; /* the front end's, as STALL: see fetch.h */
        /* Beyond this FETCHED, both signed, generated code calls the model. */
        uint64_t fetch_limit;
        uint64_t ready[VALUES]; /* the clock at which each value comes; 0: is there */
        /* Loads of the block being run that come later than a hit of L1: bits of their
         * slots, whose ready times are 0 otherwise. */
        uint64_t late;
        /* The scheduler assumes that values may be late until this time (scheduler.h). */
        uint64_t late_until;
        /* Beyond this many instructions branches are predicted (branch_sample.h). */
        uint64_t branch_limit;
        /* Beyond this many instructions the block check calls the simulated PMU. */
        uint64_t instruction_limit;
        /* Beyond this many the slots of a block are sampled, where they are. */
        uint64_t executed_limit;
        struct string_chunks string;
        /* The recent stores by word: recent_store_note of each (0: none), and the number
         * of its instruction. */
        uint64_t recent_note[RECENT_STORES];
        uint64_t recent_number[RECENT_STORES];
        /* The last byte of the latest store outside frames, where aliases are looked
         * for. */
        uint64_t last_stored;
        /* Of the last store: when its value comes (0: it was there when the store
         * issued), and its address, with its form. */
        uint64_t stored_ready[STORED_PLACES];
        uint64_t stored_where[STORED_PLACES];
        uint64_t code_line[CODE_LINES];
};

/* The bit of value NUMBER in masks; UNUSED_VALUE has none. */
static inline uint64_t hot_bit(uint32_t number)
{
        return (uint64_t)(number != UNUSED_VALUE) << (number % UNUSED_VALUE);
}

/* Where the last store to WORD, an address over eight, is noted. */
static inline uint32_t recent_store_place(uint64_t word)
{
        return (uint32_t)word & (RECENT_STORES - 1);
}

/* Values that an instruction waits for, with the delay in slots from each. Most
 * instructions wait for two or fewer. All zero: the instruction waits only for its
 * issue. */
struct waits {
        int16_t ready[2]; /* ready times of the first two: byte offsets from NO_VALUE's */
        uint32_t delay[2];
        uint32_t issue_delay; /* slots that it comes after the instruction's issue */
        uint64_t others;      /* a mask of the rest */
        const uint32_t *other_delays; /* in the order of their numbers; null: none */
};

/* The waits for the values in MASK. DELAYS: the delay from each value, in the order of
 * their numbers (null: none). ISSUE_DELAY: the delay from the issue. Keeps DELAYS. */
static inline struct waits waits_for(uint64_t mask, const uint32_t *delays,
                                     uint32_t issue_delay)
{
        struct waits waits = {.issue_delay = issue_delay};

        for (uint32_t i = 0; i < 2 && mask != 0; i++, mask &= mask - 1) {
                int32_t values = __builtin_ctzll(mask) - (int32_t)NO_VALUE;
                waits.ready[i] = (int16_t)(values * (int32_t)sizeof(uint64_t));
                waits.delay[i] = delays == 0 ? 0 : *delays++;
        }
        waits.others = mask;
        waits.other_delays = delays;
        return waits;
}

/* The ready time at OFFSET bytes from NO_VALUE's ready time. */
static inline uint64_t hot_ready_at(const struct sim_hot *hot, int16_t offset)
{
        const char *none = (const char *)&hot->ready[NO_VALUE];

        return *(const uint64_t *)(const void *)(none + offset);
}

/* The end of all WAITS of an instruction that issues at NOW. None, one and two waits
 * share a path without branches, because their number is unpredictable. */
static inline uint64_t hot_waits(const struct sim_hot *hot, const struct waits *waits,
                                 uint64_t now)
{
        const uint32_t *delay = waits->other_delays;
        uint64_t last = now + waits->issue_delay;
        uint64_t first = hot_ready_at(hot, waits->ready[0]) + waits->delay[0];
        uint64_t second = hot_ready_at(hot, waits->ready[1]) + waits->delay[1];

        last = first > last ? first : last;
        last = second > last ? second : last;
        for (uint64_t others = waits->others; __builtin_expect(others != 0, 0);
             others &= others - 1) {
                uint64_t time = hot->ready[__builtin_ctzll(others)];
                time += delay == 0 ? 0 : *delay++;
                last = time > last ? time : last;
        }
        return last;
}

static inline uint64_t *filter_of_loads(struct sim_hot *hot, uint64_t line)
{
        return &hot->loads_pass[line & (FILTER_ENTRIES - 1)];
}

static inline uint64_t *filter_of_stores(struct sim_hot *hot, uint64_t line)
{
        return &hot->stores_pass[line & (FILTER_ENTRIES - 1)];
}

/* WATCHED: FILTER_WATCHED, or 0. */
static inline void filter_let_loads_pass(struct sim_hot *hot, uint64_t line,
                                         uint64_t watched)
{
        *filter_of_loads(hot, line) = line << LINE_SHIFT | watched;
}

/* LINE is dirty: from now on stores to it change nothing. They do not wait for it. */
static inline void filter_let_stores_pass(struct sim_hot *hot, uint64_t line,
                                          uint64_t watched)
{
        *filter_of_stores(hot, line) = line << LINE_SHIFT | watched;
}

static inline bool filter_has(uint64_t entry, uint64_t line)
{
        return (entry & ~FILTER_WATCHED) == line << LINE_SHIFT;
}

/* LINE is watched from now on, or no longer. */
static inline void filter_set_watched(struct sim_hot *hot, uint64_t line, bool watched)
{
        const uint64_t flag = watched ? FILTER_WATCHED : 0;

        if (filter_has(*filter_of_loads(hot, line), line))
                filter_let_loads_pass(hot, line, flag);
        if (filter_has(*filter_of_stores(hot, line), line))
                filter_let_stores_pass(hot, line, flag);
}

/* Nothing of LINE passes any more. Without a branch: whether it does cannot be predicted.
 */
static inline void filter_drop(struct sim_hot *hot, uint64_t line)
{
        uint64_t *load = filter_of_loads(hot, line);
        uint64_t *store = filter_of_stores(hot, line);

        *load = filter_has(*load, line) ? FILTER_EMPTY : *load;
        *store = filter_has(*store, line) ? FILTER_EMPTY : *store;
}

/* Drops the entries FIRST, FIRST + STEP and so on, with any contents. */
static inline void filter_drop_each(struct sim_hot *hot, uint32_t first, uint32_t step)
{
#pragma GCC unroll 16
        for (uint32_t i = first & (FILTER_ENTRIES - 1); i < FILTER_ENTRIES; i += step) {
                hot->loads_pass[i] = FILTER_EMPTY;
                hot->stores_pass[i] = FILTER_EMPTY;
        }
}

static inline void filter_clear(struct sim_hot *hot)
{
        filter_drop_each(hot, 0, 1);
}

#endif
