/* SPDX-License-Identifier: MIT */
/* Objects that gain from huge pages, from local memory, and lose from stores around the
 * caches; -DHUGE, -DLOCAL and -DAROUND are the same programs with the change made. */
#include "target.h"

#include <emmintrin.h>

enum { COUNT = 1 << 19, STEPS = 40000 };

static long *links;
static volatile char other[4 << 20];

NOINLINE static void join(long *all)
{
        for (long i = 0; i < COUNT; i++)
#ifdef AROUND
                _mm_stream_si64((long long *)&all[i], (i + 70001) % COUNT);
#else
                all[i] = (i + 70001) % COUNT;
#endif
}

/* Afterwards no cache has the links any more. (A memset may write around the caches.) */
static void prepare(void)
{
        join(links);
        for (size_t i = 0; i < sizeof(other); i += 64)
                other[i] = 1;
}

NOINLINE static long follow(const long *all)
{
        long at = 0;
        for (int i = 0; i < STEPS; i++)
                at = all[at];
        return at;
}

static void *run(void *nothing)
{
#ifdef LOCAL
        prepare();
#endif
        printf("%ld\n", follow(links));
        return NULL;
}

/* A separate function, because pthread_create allocates for main, too. */
NOINLINE static void allocate(void)
{
#ifdef HUGE
        const size_t huge = 2 << 20;
        links = aligned_alloc(huge, COUNT * sizeof(long));
        madvise(links, COUNT * sizeof(long), MADV_HUGEPAGE);
#else
        links = malloc(COUNT * sizeof(long));
#endif
}

int main(void)
{
        pthread_t thread;
        allocate();
#ifndef LOCAL
        prepare();
#endif
        pthread_create(&thread, NULL, run, NULL);
        pthread_join(thread, NULL);
}
