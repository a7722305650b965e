/* SPDX-License-Identifier: MIT */
/* The reorder window and the load buffer, against a reference without shortcuts. */
#include "simpmu_rig.h"

#define ACCESSES 400u
#define ROB      32u

/* Accesses in flight, in program order. */
struct held {
        uint32_t places; /* of the load buffer */
        uint32_t number;
        uint64_t due[ACCESSES]; /* the next instruction waits */
        uint64_t completion[ACCESSES];
        uint64_t stall; /* of the thread */
};

/* An instruction behind the reach of an access issues when the access is complete. */
static void issue(struct held *all, uint64_t instruction)
{
        for (uint32_t i = 0; i < all->number; i++)
                if (all->due[i] < instruction)
                        all->stall = later(all->stall, all->completion[i] - all->due[i]);
}

/* The thread waits for the place of the oldest when all are taken. */
static void hold(struct held *all, uint64_t instruction, uint64_t due,
                 uint64_t completion)
{
        if (completion <= due + all->stall)
                return;
        if (all->number >= all->places) {
                uint32_t oldest = all->number - all->places;
                if (all->due[oldest] >= instruction)
                        all->stall =
                            later(all->stall, all->completion[oldest] - instruction);
        }
        all->due[all->number] = due;
        all->completion[all->number++] = completion;
}

/* Loads that take up to LONGEST slots, GAP instructions from each other, and leave up to
 * UNREACHED entries of the window empty. */
static void compare_stalls(uint32_t load_buffer, uint64_t gap, uint64_t longest,
                           uint64_t unreached)
{
        struct held *all = allocate(sizeof(*all));
        struct sim_hot *hot = allocate(sizeof(*hot));
        struct sim_thread *thread = allocate(sizeof(*thread));
        uint64_t instruction = 1;
        thread_init(thread, NULL, 0, ROB, load_buffer, 8);
        all->places = load_buffer - 1; /* a load has been asked for before it waits */
        for (uint32_t i = 0; i < ACCESSES; i++) {
                /* Ten in a row may share an instruction; each takes longer. */
                instruction += i / 10 % 3 == 0 ? 0 : random_below(gap);
                thread_retire(hot, thread, instruction);
                issue(all, instruction);
                assert_int_equal(thread->stall, all->stall);
                uint64_t completion =
                    instruction + all->stall + random_below(longest) * (i % 10 + 1) / 10;
                uint64_t empty = random_below(unreached);
                window_hold(thread, &thread->loads, instruction, empty, completion);
                hold(all, instruction, instruction + ROB - empty, completion);
                assert_int_equal(thread->stall, all->stall);
        }
}

TEST(what_comes_waits_for_all_accesses_before_it)
{
        const uint32_t load_buffers[] = {2, 3, 4, 8, 16, 32};
        for (uint32_t seed = 0; seed < 300; seed++) {
                random_state = seed;
                compare_stalls(load_buffers[seed % 6], 2 + seed % 20,
                               50 + 100 * (seed % 7), seed % 2 ? ROB : 1);
                free_blocks(NULL);
        }
}
