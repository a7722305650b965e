/* SPDX-License-Identifier: MIT */
/* Fills 8 MB twice in one of several ways that a counter of memory's traffic
 * distinguishes: "plain" stores, "whole" lines of non-temporal stores, the first 8 bytes
 * of each line ("part"), or whole lines that are loaded again at once ("read"). */
#include "target.h"

#include <emmintrin.h>

enum { LINE = 64, LINES = (8 << 20) / LINE };

NOINLINE static void fill_plain(char *p)
{
        const __m128i value = _mm_set1_epi32(7);
        for (int i = 0; i < LINES * LINE; i += 16)
                _mm_store_si128((__m128i *)(p + i), value); /* plain */
}

NOINLINE static void fill_whole(char *p)
{
        const __m128i value = _mm_set1_epi32(7);
        for (int i = 0; i < LINES * LINE; i += 16)
                _mm_stream_si128((__m128i *)(p + i), value); /* whole */
        _mm_sfence();
}

NOINLINE static void fill_part(char *p)
{
        for (int i = 0; i < LINES; i++)
                _mm_stream_si64((long long *)(p + (size_t)i * LINE), i); /* part */
        _mm_sfence();
}

NOINLINE static long read_back(const char *p)
{
        long sum = 0;
        for (int i = 0; i < LINES; i++)
                sum += *(volatile const char *)(p + (size_t)i * LINE); /* read */
        return sum;
}

int main(int argc, char **argv)
{
        const char *way = argc > 1 ? argv[1] : "";
        char *p = aligned_alloc(4096, (size_t)LINES * LINE);
        for (int i = 0; i < LINES * LINE; i += 4096)
                p[i] = 1; /* its pages are there, and few of its lines in caches */
        for (int pass = 0; pass < 2; pass++) {
                if (strcmp(way, "plain") == 0)
                        fill_plain(p);
                else if (strcmp(way, "part") == 0)
                        fill_part(p);
                else if (strcmp(way, "nothing") != 0)
                        fill_whole(p);
        }
        printf("%ld\n", strcmp(way, "read") == 0 ? read_back(p) : (long)p[4711]);
        return 0;
}
