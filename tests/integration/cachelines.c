/* SPDX-License-Identifier: MIT */
/* Two threads contend for cache lines. In the first line each adds to another field
 * (false sharing). In the second both add to one (true sharing). main reads no field: its
 * sample would be a third thread's. */
#include <pthread.h>
#include <stdint.h>

struct counters {
        _Alignas(64) volatile uint64_t ours;
        volatile uint64_t theirs;
        _Alignas(64) uint64_t total;
        _Alignas(64) volatile uint64_t apart;
};

static struct counters counters;

enum { TIMES = 40000, OFTEN = 4 };

static void add_to_total(long i)
{
        if (i % OFTEN == 0)
                __atomic_fetch_add(&counters.total, 1, __ATOMIC_RELAXED); /* total */
}

static void *count_ours(void *argument)
{
        for (long i = 0; i < TIMES; i++) {
                counters.ours++; /* ours */
                add_to_total(i);
        }
        return argument;
}

static void *count_theirs(void *argument)
{
        for (long i = 0; i < TIMES; i++) {
                counters.theirs++; /* theirs */
                counters.apart++;
                add_to_total(i);
        }
        return argument;
}

int main(void)
{
        pthread_t ours, theirs;
        if (pthread_create(&ours, NULL, count_ours, NULL) ||
            pthread_create(&theirs, NULL, count_theirs, NULL))
                return 1;
        pthread_join(ours, NULL);
        pthread_join(theirs, NULL);
        return 0;
}
