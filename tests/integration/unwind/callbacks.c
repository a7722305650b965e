/* SPDX-License-Identifier: MIT */
/* A library that calls back; built with LIBRARY it is the library. */
long around(long (*work)(long), long steps, int depth);

#ifdef LIBRARY
__attribute__((noinline)) long around(long (*work)(long), long steps, int depth)
{
        volatile long room[8] = {depth};
        return (depth ? around(work, steps, depth - 1) : work(steps)) + room[1];
}
#else
#include <stdlib.h>
static long burn(long steps)
{
        volatile long sum = 0;
        for (long i = 0; i < steps; i++)
                sum += i * i;
        return sum;
}

static int compare(const void *a, const void *b)
{
        int one = *(const int *)a, other = *(const int *)b;
        return (int)(burn(2000) & 0) + (one > other) - (one < other);
}

int main(void)
{
        static int numbers[4000];
        long sum = 0;
        for (int i = 0; i < 4000; i++)
                numbers[i] = i * 7919 % 4001;
        qsort(numbers, 4000, sizeof(*numbers), compare);
        for (int i = 0; i < 300; i++)
                sum += around(burn, 300000, i % 30);
        return sum == 1;
}
#endif
