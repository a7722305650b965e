/* SPDX-License-Identifier: MIT */
/* Stores a word by halves, or as a whole, and loads it as a whole or by halves. Each
 * combination is a separate function. The value goes round through memory. */
#include "target.h"

#define APART __attribute__((noinline, noclone))

union word {
        uint64_t whole;
        uint32_t half[2];
};

APART static uint64_t halves_then_whole(volatile union word *w, int n)
{
        uint64_t sum = 1;
        for (int i = 0; i < n; i++) {
                w->half[0] = (uint32_t)sum;
                w->half[1] = (uint32_t)i;
                sum += w->whole; /* waits */
        }
        return sum;
}

APART static uint64_t whole_then_whole(volatile union word *w, int n)
{
        uint64_t sum = 1;
        for (int i = 0; i < n; i++) {
                w->whole = (uint32_t)sum | (uint64_t)i << 32;
                sum += w->whole;
        }
        return sum;
}

APART static uint64_t whole_then_halves(volatile union word *w, int n)
{
        uint64_t sum = 1;
        for (int i = 0; i < n; i++) {
                w->whole = (uint32_t)sum | (uint64_t)i << 32;
                sum += w->half[0];
                sum += w->half[1];
        }
        return sum;
}

APART static void put(volatile union word *w, uint32_t low, uint32_t high)
{
        w->half[0] = low;
        w->half[1] = high;
}

APART static uint64_t take(volatile union word *w)
{
        return w->whole; /* waits too */
}

int main(int count, char **arguments)
{
        const int n = count > 1 ? atoi(arguments[1]) : 100000;
        volatile union word *w = calloc(1, 64);
        uint64_t sum = 0;
        sum += halves_then_whole(w, n);
        sum += whole_then_whole(w, n);
        sum += whole_then_halves(w, n);
        for (int i = 0; i < n; i++) {
                put(w, (uint32_t)sum, (uint32_t)i);
                sum += take(w);
        }
        printf("%lu\n", (unsigned long)sum);
        return 0;
}
