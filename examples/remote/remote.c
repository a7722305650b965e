/* SPDX-License-Identifier: MIT */
/* Threads on two nodes follow a list that one thread has made. The list lies in the
 * memory of that thread's node, so half of the threads read remote memory. Each thread
 * also follows a list that it has made itself, on its own node. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../arguments.h"

/* One cache line. */
struct entry {
        uint64_t next; /* the number of another entry */
        uint64_t other_fields[7];
};

struct reader {
        pthread_t thread;
        size_t first;
        uint64_t last;
};

static struct entry *shared;
static size_t entries; /* a power of two */
static size_t lookups;

static uint64_t follow_shared(uint64_t at)
{
        for (size_t i = 0; i < lookups; i++)
                at = shared[at].next; /* mark: slow-line */
        return at;
}

static uint64_t follow_own(const struct entry *own, uint64_t at)
{
        for (size_t i = 0; i < lookups; i++)
                at = own[at].next; /* mark: local-line */
        return at;
}

static void *allocate(void *memory)
{
        if (memory)
                return memory;
        fprintf(stderr, "remote: not enough memory; try fewer megabytes\n");
        exit(1);
}

/* A circle through all entries, without order to the eye. */
static void fill(struct entry *table)
{
        for (size_t i = 0; i < entries; i++)
                table[i].next = (i * 1664525 + 1013904223) & (entries - 1); /* mark: first-touch */
}

static void *follow(void *argument)
{
        struct reader *self = argument;
        struct entry *own =
            allocate(malloc(entries * sizeof(*own))); /* mark: local-object */

        fill(own); /* the pages come to this thread's node */
        self->last = follow_own(own, self->first) + follow_shared(self->first);
        free(own);
        return NULL;
}

int main(int argc, char **argv)
{
        no_more_arguments(argc, argv, 3, "[THREADS [MEGABYTES [LOOKUPS]]]");
        size_t threads = size_argument(argc, argv, 1, "THREADS", 4, 1, 1000);
        size_t megabytes = size_argument(argc, argv, 2, "MEGABYTES", 64, 1, 1 << 16);
        lookups = size_argument(argc, argv, 3, "LOOKUPS", 1000000, 1, SIZE_MAX);

        for (entries = 1; entries * 2 * sizeof(struct entry) <= megabytes << 20;)
                entries *= 2;
        shared = allocate(malloc(entries * sizeof(*shared))); /* mark: slow-object */
        fill(shared);

        struct reader *readers = allocate(calloc(threads, sizeof(*readers)));
        for (size_t t = 0; t < threads; t++) {
                readers[t].first = t * (entries / threads);
                if (pthread_create(&readers[t].thread, NULL, follow, &readers[t])) {
                        fprintf(stderr, "remote: cannot start a thread; try fewer\n");
                        return 1;
                }
        }
        uint64_t sum = 0;
        for (size_t t = 0; t < threads; t++) {
                pthread_join(readers[t].thread, NULL);
                sum += readers[t].last;
        }
        printf("%llu in %zu entries\n", (unsigned long long)sum, entries);
        free(readers);
        free(shared);
        return 0;
}
