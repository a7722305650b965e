/* SPDX-License-Identifier: MIT */
/* A phase that waits for memory and one that only computes. Prints each phase's share of
 * the CPU time, by the kernel's clock. */
#include "target.h"

enum { ITEMS = 1 << 20, CHASE_STEPS = 1500000, SPINS = 40000000 };

struct item {
        uint32_t next;
        char pad[60];
};

static double cpu_seconds(void)
{
        struct timespec time;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A full-period linear congruence: one cycle through all items, in no order. */
static struct item *build(void)
{
        struct item *items = malloc(ITEMS * sizeof(*items));
        if (!items)
                exit(1);
        for (uint32_t i = 0; i < ITEMS; i++)
                items[i].next = (i * 1664525u + 1013904223u) % ITEMS;
        return items;
}

NOINLINE static uint32_t chase(const struct item *items)
{
        uint32_t at = 0;
        for (int i = 0; i < CHASE_STEPS; i++)
                at = items[at].next; /* waits */
        return at;
}

NOINLINE static uint64_t spin(uint64_t x)
{
        for (int i = 0; i < SPINS; i++)
                x = x * UINT64_C(6364136223846793005) + 1; /* computes */
        return x;
}

int main(void)
{
        const struct item *items = build();
        double begin = cpu_seconds();
        uint64_t x = chase(items);
        double middle = cpu_seconds();
        x += spin(x);
        double end = cpu_seconds();
        printf("%.3f %.3f %d\n", (middle - begin) / end, (end - middle) / end,
               (int)(x & 1));
        return 0;
}
