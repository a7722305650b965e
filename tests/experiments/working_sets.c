/* SPDX-License-Identifier: MIT */
/* Programs for working_sets.py: random reads of an array, a table whose entries are used
 * unequally, a product of matrices, and sweeps over a grid. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint64_t random_number(void)
{
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
}

/* By stores that request the lines, which memset's may not do. */
static void *filled(size_t bytes)
{
        uint64_t *memory = malloc(bytes);
        if (!memory)
                abort();
        for (size_t i = 0; i < bytes / sizeof(*memory); i++)
                memory[i] = (uint64_t)0x3ff << 52 | i; /* a double near 1 */
        return memory;
}

static uint64_t uniform(void)
{
        const uint64_t count = 3 << 17; /* 3 MiB */
        const uint64_t *all = filled(count * sizeof(*all));
        uint64_t sum = 0;
        for (int i = 0; i < 1500000; i++)
                sum += all[random_number() % count];
        return sum;
}

/* The smaller of four random numbers: the first entries are used most. */
static uint64_t unequal(void)
{
        struct entry {
                uint64_t key, value[7];
        };
        const uint64_t count = 1 << 16; /* 4 MiB */
        struct entry *all = filled(count * sizeof(*all));
        uint64_t sum = 0;
        for (int i = 0; i < 2500000; i++) {
                uint64_t least = count;
                for (int k = 0; k < 4; k++) {
                        uint64_t one = random_number() % count;
                        least = one < least ? one : least;
                }
                struct entry *entry = &all[least * 40503 % count];
                entry->value[i % 7] += entry->key;
                sum += entry->value[0];
        }
        return sum;
}

static uint64_t matrices(void)
{
        enum { N = 176 };
        double *a = filled(N * N * 8), *b = filled(N * N * 8), *c = filled(N * N * 8);
        for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                        for (int k = 0; k < N; k++)
                                c[i * N + j] += a[i * N + k] * b[k * N + j];
        return (uint64_t)c[N];
}

static uint64_t grid(void)
{
        enum { ROWS = 400, COLUMNS = 512 }; /* two of 1.6 MiB */
        double *from = filled(ROWS * COLUMNS * 8), *to = filled(ROWS * COLUMNS * 8);
        for (int pass = 0; pass < 24; pass++) {
                for (int i = COLUMNS; i < (ROWS - 1) * COLUMNS; i++)
                        to[i] =
                            from[i - COLUMNS] + from[i + COLUMNS] + from[i - 1] + from[i];
                double *swap = from;
                from = to;
                to = swap;
        }
        return (uint64_t)from[COLUMNS];
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                uint64_t (*run)(void);
        } programs[] = {{"uniform", uniform},
                        {"unequal", unequal},
                        {"matrices", matrices},
                        {"grid", grid}};
        for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]); i++)
                if (strcmp(argv[1], programs[i].name) == 0)
                        printf("%llu\n", (unsigned long long)programs[i].run());
        return 0;
}
