/* SPDX-License-Identifier: MIT */
/* Many threads add up one field of 64-byte records, and ask for more lines than the
 * memory can deliver. Beside them one thread works in a table that fits its cache.
 * memlag must report the threads that add up, and not the thread with the table. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../arguments.h"

#define TABLE_ENTRIES 4096 /* 32 KiB with 8 bytes each */

/* One cache line. The sum needs eight bytes of each. */
struct order {
        uint64_t price;
        uint64_t other_fields[7];
};

struct streamer {
        pthread_t thread;
        const struct order *orders;
        size_t count;
        size_t passes;
        uint64_t revenue;
};

struct neighbour {
        pthread_t thread;
        uint64_t *table;
        uint64_t checksum;
};

static pthread_barrier_t start;
static atomic_size_t streaming; /* threads that are not done */

static void *stream(void *argument)
{
        struct streamer *self = argument;
        uint64_t revenue = 0;

        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < self->passes; pass++)
                for (size_t i = 0; i < self->count; i++)
                        revenue += self->orders[i].price; /* mark: slow-line */
        self->revenue = revenue;
        atomic_fetch_sub(&streaming, 1);
        return NULL;
}

static void *work_in_cache(void *argument)
{
        struct neighbour *self = argument;
        const uint64_t *table = self->table;
        uint64_t at = 0;

        pthread_barrier_wait(&start);
        while (atomic_load_explicit(&streaming, memory_order_relaxed) > 0)
                for (int i = 0; i < 1000; i++)
                        at = table[at % TABLE_ENTRIES] + i; /* mark: innocent-line */
        self->checksum = at;
        return NULL;
}

static void *allocate(void *memory)
{
        if (memory)
                return memory;
        fprintf(stderr, "contention: not enough memory; try fewer megabytes\n");
        exit(1);
}

static void start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
        if (pthread_create(thread, NULL, run, argument) == 0) /* mark: start */
                return;
        fprintf(stderr, "contention: cannot start a thread; try fewer threads\n");
        exit(1);
}

static uint64_t revenue_of(const struct order *orders, size_t count, size_t threads,
                           size_t passes)
{
        struct streamer *streamers = allocate(calloc(threads, sizeof(*streamers)));
        size_t share = count / threads;
        uint64_t revenue = 0;

        for (size_t t = 0; t < threads; t++) {
                streamers[t].orders = orders + t * share;
                streamers[t].count = share;
                streamers[t].passes = passes;
                start_thread(&streamers[t].thread, stream, &streamers[t]);
        }
        for (size_t t = 0; t < threads; t++) {
                pthread_join(streamers[t].thread, NULL);
                revenue += streamers[t].revenue;
        }
        free(streamers);
        return revenue;
}

int main(int argc, char **argv)
{
        no_more_arguments(argc, argv, 3, "[THREADS [MEGABYTES [PASSES]]]");
        size_t threads = size_argument(argc, argv, 1, "THREADS", 24, 1, 1000);
        size_t megabytes = size_argument(argc, argv, 2, "MEGABYTES", 128, 1, 1 << 20);
        size_t passes = size_argument(argc, argv, 3, "PASSES", 24, 1, 1000000);

        size_t count = (megabytes << 20) / sizeof(struct order);
        struct order *orders = malloc(count * sizeof(*orders)); /* mark: slow-object */
        allocate(orders);
        for (size_t i = 0; i < count; i++)
                orders[i].price = i % 100; /* mark: first-touch */

        struct neighbour neighbour = {0};
        neighbour.table = allocate(malloc(TABLE_ENTRIES * sizeof(*neighbour.table))); /* mark: small-object */
        for (size_t i = 0; i < TABLE_ENTRIES; i++)
                neighbour.table[i] = i * 7919 + 1;

        atomic_init(&streaming, threads);
        pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
        start_thread(&neighbour.thread, work_in_cache, &neighbour);
        uint64_t revenue = revenue_of(orders, count, threads, passes);
        pthread_join(neighbour.thread, NULL);

        printf("revenue %llu from %zu orders, %zu threads\n", (unsigned long long)revenue,
               count, threads);
        free(neighbour.table);
        free(orders);
        return 0;
}
