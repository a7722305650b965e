/* SPDX-License-Identifier: MIT */
/* aliases DISTANCE COUNT: a store and a load that many bytes above it, COUNT times. Each
 * load waits for the one before, so that its latency is what a step takes. */
#include "target.h"

NOINLINE static uint64_t chain(char *to, const char *from, long count)
{
        uint64_t next = 0;

        for (long i = 0; i < count; i++) {
                *(volatile uint64_t *)to = (uint64_t)i;
                next = *(volatile const uint64_t *)(from + next); /* aliases */
        }
        return next;
}

int main(int argc, char **argv)
{
        char *memory = aligned_alloc(4096, 16384);

        if (argc != 3 || memory == NULL)
                return 2;
        memset(memory, 0, 16384);
        printf("%lu\n",
               (unsigned long)chain(memory, memory + atol(argv[1]), atol(argv[2])));
        return 0;
}
