/* SPDX-License-Identifier: MIT */
/* Known use of cache lines and known working sets. A loop reads one field of an array of
 * structures, and another field in the same pass; other loops read whole arrays. */
#include <stdio.h>
#include <stdlib.h>

#define LINE 64
#define MIB  (1l << 20)

struct particle {
        long x; /* position_x reads this alone, and moments also mass */
        long others[4];
        double mass;
        long unused[2];
};

_Static_assert(sizeof(struct particle) == LINE, "one line each");

__attribute__((noipa)) static long position_x(const struct particle *all, long count)
{
        long sum = 0;
        for (long i = 0; i < count; i++)
                sum += all[i].x;
        return sum;
}

__attribute__((noipa)) static double moments(const struct particle *all, long count)
{
        double sum = 0;
        for (long i = 0; i < count; i++)
                sum += (double)all[i].x * all[i].mass;
        return sum;
}

__attribute__((noipa)) static long whole_lines(const long *all, long count)
{
        long sum = 0;
        for (long i = 0; i < count; i++)
                sum += all[i];
        return sum;
}

__attribute__((noipa)) static long one_of_each_line(const long *all, long bytes)
{
        long sum = 0;
        for (long i = 0; i < bytes / 8; i += LINE / 8)
                sum += all[i];
        return sum;
}

__attribute__((noipa)) static void fill(void *all, long bytes)
{
        __asm__ volatile("rep stosb" : "+D"(all), "+c"(bytes) : "a"(1) : "memory");
}

static void *zeroed(char *memory, long bytes)
{
        if (!memory)
                abort();
        for (long i = 0; i < bytes; i++)
                memory[i] = 0;
        return memory;
}

int main(void)
{
        const long bytes = 2 * MIB, count = bytes / LINE;
        const long small_bytes = MIB * 3 / 8, large_bytes = MIB * 5;
        struct particle *one = zeroed(aligned_alloc(LINE, bytes), bytes);
        struct particle *two = zeroed(aligned_alloc(LINE, bytes), bytes);
        long *whole = zeroed(aligned_alloc(LINE, bytes), bytes);
        long *small = zeroed(aligned_alloc(LINE, small_bytes), small_bytes);
        long *large = zeroed(aligned_alloc(LINE, large_bytes), large_bytes);
        double sum = 0;
        for (int pass = 0; pass < 8; pass++)
                sum += (double)position_x(one, count);
        for (int pass = 0; pass < 8; pass++)
                sum += moments(two, count);
        for (int pass = 0; pass < 4; pass++)
                sum += (double)whole_lines(whole, bytes / 8);
        for (int pass = 0; pass < 40; pass++)
                sum += (double)one_of_each_line(small, small_bytes);
        for (int pass = 0; pass < 8; pass++)
                sum += (double)one_of_each_line(large, large_bytes);
        for (int pass = 0; pass < 4; pass++)
                fill(whole, bytes);
        printf("%g\n", sum);
        return 0;
}
