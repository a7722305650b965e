/* SPDX-License-Identifier: MIT */
/* A branch that goes by random bits, or always the same way unless the argument is
 * "random". The same before a function returns. Then one that goes by loaded random bits.
 */
#include "target.h"

enum { GUESSES = 5000000, LOOKS = 1000000, WORDS = 1 << 16 };

static uint32_t table[WORDS]; /* in L2 */

NOINLINE static uint64_t guess(uint64_t x, uint64_t bit)
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

/* Returns its argument, by either of two returns. */
uint64_t choose(uint64_t bit);
__asm__(".type choose, @function\n"
        "choose: mov %rdi, %rax; test $1, %al; jz 1f; ret; 1: ret\n"
        ".size choose, . - choose");

NOINLINE static uint64_t ask(uint64_t x, uint64_t bit)
{
        uint64_t sum = 0;
        for (int i = 0; i < LOOKS; i++) {
                x = x * 0x5851f42d4c957f2d + 1;
                sum += choose(x >> 63 & bit); /* call */
        }
        return sum;
}

NOINLINE static uint64_t look(uint64_t x)
{
        uint64_t sum = 0;
        for (int i = 0; i < LOOKS; i++) {
                x = x * 0x5851f42d4c957f2d + 1;
                uint32_t value = table[x >> 48], other; /* load */
                __asm__ volatile("" : "+r"(value));
                other = *(volatile uint32_t *)&table[x & 1]; /* hit */
                if ((value ^ other) & 1)                     /* decide */
                        __asm__ volatile("add $1, %0" : "+r"(sum));
                else
                        __asm__ volatile("add $3, %0" : "+r"(sum));
        }
        return sum;
}

int main(int argc, char **argv)
{
        const uint64_t bit = argc > 1 && strcmp(argv[1], "random") == 0;
        for (uint32_t i = 0; i < WORDS; i++)
                table[i] = (i * 2654435761u) >> 16;
        uint64_t sum =
            guess(UINT64_C(88172645463325252), bit) + ask(bit + 1, bit) + look(bit);
        printf("%d\n", (int)(sum & 1));
        return 0;
}
