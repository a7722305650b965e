/* SPDX-License-Identifier: MIT */
/* What generated code reads and writes itself, without a call: the filters that
 * let most L1 hits pass, and the running thread's counts. One thread of the
 * simulated program runs at a time, and this is its state; the rest of a thread's
 * state is in thread.h.
 *
 * Time is counted in slots: one slot is the 1/width part of a cycle in which one
 * instruction issues, so that a thread's clock is instructions + stall slots. */
#ifndef SIMPMU_MODEL_HOT_H
#define SIMPMU_MODEL_HOT_H

#include <stdint.h>

#define LINE_SHIFT     6
#define LINE_BYTES     (1u << LINE_SHIFT)
#define PAGE_SHIFT     12
#define FILTER_ENTRIES 512u
#define FILTER_EMPTY   (1ull << 63) /* no program has memory near this address */

/* Guest registers have ids 0 to 62 in dependence masks; the last bit says that a
 * load of the block being run has not delivered yet. */
#define REGISTER_IDS 63u
#define SLOT_BIT     (1ull << 63)

struct sim_hot {
        /* An entry is the address of a line that is in L1 and marked recent there,
         * so that one more hit would change nothing. An address hits when it lies
         * less than a line above the entry. */
        uint64_t load_filter[FILTER_ENTRIES];
        /* The same for lines that are dirty besides. */
        uint64_t store_filter[FILTER_ENTRIES];
        uint64_t instructions; /* retired by the running thread */
        uint64_t loads;        /* retired by the running thread */
        uint64_t pending;      /* registers whose value may still be to come */
        /* Beyond this many instructions the block check calls the tool. */
        uint64_t instruction_limit;
};

/* Makes an entry that is ADDRESS one that nothing hits, without a branch: whether the
 * entry is this line's cannot be predicted. */
static inline void filter_drop_entry(uint64_t *entry, uint64_t address)
{
        *entry |= *entry == address ? FILTER_EMPTY : 0;
}

static inline void filter_drop(struct sim_hot *hot, uint64_t line)
{
        uint64_t index = line & (FILTER_ENTRIES - 1);
        uint64_t address = line << LINE_SHIFT;

        filter_drop_entry(&hot->load_filter[index], address);
        filter_drop_entry(&hot->store_filter[index], address);
}

static inline void filter_clear(struct sim_hot *hot)
{
        for (uint32_t i = 0; i < FILTER_ENTRIES; i++) {
                hot->load_filter[i] = FILTER_EMPTY;
                hot->store_filter[i] = FILTER_EMPTY;
        }
}

#endif
