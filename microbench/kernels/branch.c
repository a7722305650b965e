/* SPDX-License-Identifier: MIT */
/* Loops with known numbers of executed, taken and mispredicted branches: B20's eleven,
 * and an alternating one. */
#include "kernel.h"

enum { TIMES = 4096 }; /* iterations per pass */

static int prepare(struct kernel_share *share, struct diag *diag)
{
        (void)share;
        (void)diag;
        return 0;
}

/* No later instruction begins before all earlier ones have completed: it ends the wrong
 * path. */
#define FENCE "lfence\n\t"

/* A number with an unpredictable sign, available after about ten cycles: three steps of a
 * linear congruential generator (Knuth, TAOCP 2, 3.3.4). */
#define STEP "imul %[factor], %[drawn]\n\tadd $1, %[drawn]\n\t"
#define DRAW FENCE STEP STEP STEP

/* A branch to LABEL after the number is drawn. A register holds [zero], because binary
 * translators remove branches with a known direction. */
#define NEVER(label)  "test %[zero], %[drawn]\n\tjnz " label "f\n\t"
#define ALWAYS(label) "test %[zero], %[drawn]\n\tjz " label "f\n\t"
#define RANDOM(label) "test %[drawn], %[drawn]\n\tjs " label "f\n\t"
/* Branches that depend on the countdown [n]: taken for half of a pass, and alternately.
 */
#define HALVES(label)      "test $2048, %[n]\n\tjz " label "f\n\t"
#define ALTERNATING(label) "test $1, %[n]\n\tjz " label "f\n\t"

/* One instruction to branch over. */
#define OVER(label) "nop\n" label ":\n\t"

#define LOOP(name, body)                                                                 \
        KERNEL_LOOP static void branch_##name(uint64_t times, uint64_t drawn)            \
        {                                                                                \
                const uint64_t factor = UINT64_C(6364136223846793005), zero = 0;         \
                __asm__ volatile(".p2align 6\n1:\n\t" body "dec %[n]\n\t"                \
                                 "jnz 1b"                                                \
                                 : [n] "+r"(times), [drawn] "+r"(drawn)                  \
                                 : [factor] "r"(factor), [zero] "r"(zero)                \
                                 : "cc");                                                \
        }

LOOP(none, "")
LOOP(never, DRAW NEVER("2") OVER("2") FENCE)
LOOP(always, DRAW ALWAYS("2") OVER("2") FENCE)
LOOP(halves, DRAW HALVES("2") OVER("2") FENCE)
LOOP(alternating, DRAW ALTERNATING("2") OVER("2") FENCE)
LOOP(jump, DRAW NEVER("3") "jmp 2f\n3:\n\t" OVER("2") FENCE)
LOOP(random, DRAW RANDOM("2") OVER("2") FENCE)
LOOP(random_never, DRAW RANDOM("2") FENCE NEVER("3") OVER("3") "2:\n\t" FENCE)
LOOP(random_always, DRAW RANDOM("2") FENCE ALWAYS("3") OVER("3") "2:\n\t" FENCE)
LOOP(wrong_path, DRAW RANDOM("2") OVER("2"))
LOOP(wrong_path_never, DRAW RANDOM("2") NEVER("3") OVER("3") FENCE "2:\n\t")
LOOP(wrong_path_always, DRAW RANDOM("2") ALWAYS("3") OVER("3") FENCE "2:\n\t")

/* Averages for two iterations: of two random branches, one is taken and one mispredicted.
 * The loop's own branch is one of the conditional ones. EXECUTED includes branches on the
 * wrong path, which ends at the next fence. */
static const struct {
        void (*run)(uint64_t times, uint64_t drawn);
        unsigned conditional, taken, jumps, mispredicted, executed, instructions;
} loops[] = {
    [BRANCH_NONE] = {branch_none, 2, 2, 0, 0, 2, 4},
    [BRANCH_NEVER] = {branch_never, 4, 2, 0, 0, 4, 26},
    [BRANCH_ALWAYS] = {branch_always, 4, 4, 0, 0, 4, 24},
    [BRANCH_HALVES] = {branch_halves, 4, 3, 0, 0, 4, 25},
    [BRANCH_ALTERNATING] = {branch_alternating, 4, 3, 0, 0, 4, 25},
    [BRANCH_JUMP] = {branch_jump, 4, 2, 2, 0, 4, 26},
    [BRANCH_RANDOM] = {branch_random, 4, 3, 0, 1, 4, 25},
    [BRANCH_RANDOM_NEVER] = {branch_random_never, 5, 3, 0, 1, 5, 28},
    [BRANCH_RANDOM_ALWAYS] = {branch_random_always, 5, 4, 0, 1, 5, 27},
    [BRANCH_WRONG_PATH] = {branch_wrong_path, 4, 3, 0, 1, 5, 23},
    [BRANCH_WRONG_PATH_NEVER] = {branch_wrong_path_never, 5, 3, 0, 1, 6, 26},
    [BRANCH_WRONG_PATH_ALWAYS] = {branch_wrong_path_always, 5, 4, 0, 1, 6, 25},
};

static void run(struct kernel_share *share, uint64_t passes)
{
        loops[share->parameters->pattern].run(passes * TIMES, share->thread);
}

static void count(const struct kernel_parameters *parameters,
                  struct kernel_counts *counts)
{
        uint64_t pairs = (uint64_t)TIMES / 2 * parameters->threads;
        *counts = (struct kernel_counts){
            .accesses = TIMES,
            .instructions = pairs * loops[parameters->pattern].instructions,
            .tells_branches = true,
            .branches = pairs * loops[parameters->pattern].conditional,
            .branches_taken = pairs * loops[parameters->pattern].taken,
            .branches_mispredicted = pairs * loops[parameters->pattern].mispredicted,
            .branches_executed = pairs * loops[parameters->pattern].executed,
            .jumps = pairs * loops[parameters->pattern].jumps,
        };
}

const struct kernel kernel_branch = {
    .name = "branch",
    .summary = "Loops with branches that follow a pattern (B20)",
    .takes = TAKES_PATTERN,
    .defaults = {.pattern = BRANCH_RANDOM},
    .prepare = prepare,
    .run = run,
    .count = count,
};
