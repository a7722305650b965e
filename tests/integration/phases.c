/* SPDX-License-Identifier: MIT */
/* Three kinds of phase in turn, twice: arithmetic, a pointer chase, and many lines at
 * once. */
#include "target.h"

enum { LINES = 1 << 20, WORDS = 8, ROUNDS = 2, MULTIPLICATIONS = 3000000, LOADS = 80000 };

static uint64_t *make_ring(void)
{
        uint64_t *memory = aligned_alloc(64, (size_t)LINES * WORDS * sizeof(*memory));
        if (!memory)
                exit(1);
        /* A full cycle: the multiplier of a linear congruential generator. */
        for (uint64_t i = 0; i < LINES; i++)
                memory[i * WORDS] = (i * 1103515245 + 12345) % LINES;
        return memory;
}

static uint64_t compute(uint64_t seed)
{
        for (int i = 0; i < MULTIPLICATIONS; i++)
                seed = seed * 6364136223846793005u + 1;
        return seed;
}

static uint64_t chase(const uint64_t *memory, uint64_t at)
{
        for (int i = 0; i < LOADS; i++)
                at = memory[at * WORDS];
        return at;
}

static uint64_t many_lines(const uint64_t *memory)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < LINES; i++)
                sum += memory[(i * 7919 % LINES) * WORDS];
        return sum;
}

int main(void)
{
        uint64_t *memory = make_ring(), sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
                sum += compute(sum);
                sum = chase(memory, sum % LINES) + many_lines(memory);
        }
        printf("%d\n", sum != 1);
        free(memory);
        return 0;
}
