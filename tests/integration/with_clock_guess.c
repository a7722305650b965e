/* SPDX-License-Identifier: MIT */
/* A branch that goes by random bits, or always the same way unless the argument is
 * "random". */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { GUESSES = 5000000 };

__attribute__((noinline)) static uint64_t guess(uint64_t x, uint64_t bit)
{
        uint64_t sum = 0;
        for (int i = 0; i < GUESSES; i++) {
                x ^= x << 13; /* shift */
                x ^= x >> 7;  /* shift */
                x ^= x << 17; /* shift */
                if (x & bit)
                        __asm__ volatile("add $1, %0" : "+r"(sum)); /* way */
                else
                        __asm__ volatile("add $3, %0" : "+r"(sum)); /* way */
        }
        return sum;
}

int main(int argc, char **argv)
{
        const uint64_t bit = argc > 1 && strcmp(argv[1], "random") == 0;
        printf("%d\n", (int)(guess(UINT64_C(88172645463325252), bit) & 1));
        return 0;
}
