/* SPDX-License-Identifier: MIT */
/* Conditional branches whose outcome follows a pattern (B20's branch kernels): what is
 * executed and taken is known, and so is how well it can be predicted. */
#include "kernel.h"
#include "random.h"

enum { BRANCHES = 1000 };

static int prepare(struct kernel_share *share, struct diag *diag)
{
        (void)share;
        (void)diag;
        return 0;
}

static inline void branch(uint64_t taken)
{
        __asm__ volatile("test %[taken], %[taken]\n\t"
                         "jnz 1f\n\t"
                         "nop\n"
                         "1:"
                         :
                         : [taken] "r"(taken)
                         : "cc");
}

static void run(struct kernel_share *share, uint64_t passes)
{
        enum branch_pattern pattern = share->parameters->pattern;
        struct random random = random_seeded(share->thread);
        uint64_t taken = pattern == BRANCH_ALWAYS;
        for (uint64_t n = passes * BRANCHES; n > 0; n--) {
                branch(taken);
                if (pattern == BRANCH_ALTERNATING)
                        taken ^= 1;
                else if (pattern == BRANCH_RANDOM)
                        taken = random_next(&random) & 1;
        }
}

/* Of the pattern's branches; the loop around them has three more, which are always
 * predicted. */
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
