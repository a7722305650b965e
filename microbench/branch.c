/* SPDX-License-Identifier: MIT */
/* Conditional branches whose outcome follows a pattern (B20's branch kernels): what is
 * executed and taken is known, and so is how well it can be predicted. */
#include "kernel.h"
#include "random.h"

enum { WORD_BITS = 64, BRANCHES = 16 * WORD_BITS };

static int prepare(struct kernel_share *share, struct diag *diag)
{
        (void)share;
        (void)diag;
        return 0;
}

/* A branch for each bit of OUTCOMES, taken where it is 1: one instruction more where it
 * is 0, and no other difference between the patterns. */
KERNEL_LOOP static void branch_word(uint64_t outcomes)
{
        uint64_t bits = WORD_BITS;
        __asm__ volatile("1:\n\t"
                         "shr $1, %[outcomes]\n\t"
                         "jc 2f\n\t"
                         "nop\n"
                         "2:\n\t"
                         "dec %[bits]\n\t"
                         "jnz 1b"
                         : [outcomes] "+r"(outcomes), [bits] "+r"(bits)
                         :
                         : "cc");
}

/* Every pattern draws a random word, so that all do the same but for the branches. */
static void run(struct kernel_share *share, uint64_t passes)
{
        static const uint64_t fixed[] = {
            [BRANCH_NEVER] = 0,
            [BRANCH_ALWAYS] = UINT64_MAX,
            [BRANCH_ALTERNATING] = UINT64_C(0x5555555555555555),
            [BRANCH_RANDOM] = 0,
        };
        enum branch_pattern pattern = share->parameters->pattern;
        uint64_t drawn = pattern == BRANCH_RANDOM ? UINT64_MAX : 0;
        struct random random = random_seeded(share->thread);
        for (uint64_t n = passes * (BRANCHES / WORD_BITS); n > 0; n--)
                branch_word(fixed[pattern] | (random_next(&random) & drawn));
}

/* Of the pattern's branches, half of the random ones on average; the loops around them
 * have others, which are always predicted. */
static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t branches = (uint64_t)BRANCHES * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = BRANCHES,
            .branches = branches,
            .branches_taken = parameters->pattern == BRANCH_NEVER    ? 0
                              : parameters->pattern == BRANCH_ALWAYS ? branches
                                                                     : branches / 2,
        };
}

const struct kernel kernel_branch = {
    .name = "branch",
    .summary = "Conditional branches that follow a pattern (B20)",
    .takes = TAKES_PATTERN,
    .defaults = {.pattern = BRANCH_RANDOM},
    .prepare = prepare,
    .run = run,
    .count = count,
};
