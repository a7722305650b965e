/* SPDX-License-Identifier: MIT */
/* Cores compete for a line: in false sharing, each thread has a separate word of the
 * line; in true sharing, all add to one word. */
#include <errno.h>

#include "kernel.h"

enum {
        ADDITIONS = 1000,
        LOOP_INSTRUCTIONS = 3,
        WORDS = KERNEL_LINE_BYTES / sizeof(uint64_t)
};

static int check(const struct kernel_parameters *parameters, struct diag *diag)
{
        if (parameters->threads < 2)
                return diag_set(diag, -EINVAL, "sharing needs at least two threads");
        return 0;
}

static int check_words(const struct kernel_parameters *parameters, struct diag *diag)
{
        if (parameters->threads > WORDS)
                return diag_set(diag, -EINVAL, "a line has words for %d threads",
                                (int)WORDS);
        return check(parameters, diag);
}

static int prepare(struct kernel_share *share, struct diag *diag)
{
        (void)share;
        (void)diag;
        return 0;
}

/* Locked: each addition needs the line. Plain additions would stay in the store buffer.
 */
static KERNEL_LOOP void add_locked(uint64_t *word, uint64_t additions)
{
        __asm__ volatile("1:\n\t"
                         "lock incq (%[w])\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : [n] "+r"(additions)
                         : [w] "r"(word)
                         : "memory", "cc");
}

static void run_false(struct kernel_share *share, uint64_t passes)
{
        add_locked((uint64_t *)share->common + share->thread, passes * ADDITIONS);
}

static void run_true(struct kernel_share *share, uint64_t passes)
{
        add_locked(share->common, passes * ADDITIONS);
}

static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t additions = (uint64_t)ADDITIONS * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = ADDITIONS,
            .bytes = additions * sizeof(uint64_t),
            .loads = additions,
            .stores = additions,
            .instructions = LOOP_INSTRUCTIONS * additions,
        };
}

const struct kernel kernel_false_sharing = {
    .name = "false-sharing",
    .summary = "Threads that add to words of one line",
    .defaults = {.threads = 2},
    .common_bytes = KERNEL_LINE_BYTES,
    .check = check_words,
    .prepare = prepare,
    .run = run_false,
    .count = count,
};

const struct kernel kernel_true_sharing = {
    .name = "true-sharing",
    .summary = "Threads that add to one word",
    .defaults = {.threads = 2},
    .common_bytes = KERNEL_LINE_BYTES,
    .check = check,
    .prepare = prepare,
    .run = run_true,
    .count = count,
};
