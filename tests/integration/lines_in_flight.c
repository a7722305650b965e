/* SPDX-License-Identifier: MIT */
/* Slow hits of fill buffers that DRAM has no part in: words of lines that another thread
 * has just written, and more lines of the last cache at a time than there are buffers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 8192, ROUNDS = 100, LINES = 65536, PASSES = 20 };

static long words[WORDS];
static pthread_barrier_t barrier;

/* Eight words a line: the first asks the other core for it, the others find it asked for. */
static __attribute__((noinline)) long take(void)
{
        long sum = 0;
        for (int i = 0; i < WORDS; i++)
                sum += words[i]; /* mark: taken */
        return sum;
}

static void *taker(void *sum)
{
        for (int round = 0; round < ROUNDS; round++) {
                pthread_barrier_wait(&barrier);
                *(long *)sum += take();
                pthread_barrier_wait(&barrier);
        }
        return NULL;
}

struct line {
        long words[8];
};

/* 4 MiB, in an order that no prefetcher knows; two words of each line. */
static __attribute__((noinline)) long gather(const struct line *lines)
{
        long sum = 0;
        unsigned place = 1;
        for (int i = 0; i < LINES; i++) {
                place = (place * 5 + 12345) % LINES;
                sum += lines[place].words[0] + lines[place].words[5]; /* mark: gathered */
        }
        return sum;
}

int main(void)
{
        long sum = 0;
        pthread_t thread;
        struct line *lines = calloc(LINES, sizeof(*lines));
        if (!lines || pthread_barrier_init(&barrier, NULL, 2) ||
            pthread_create(&thread, NULL, taker, &sum))
                return 1;
        for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < WORDS; i++)
                        words[i] = round + i;
                pthread_barrier_wait(&barrier);
                pthread_barrier_wait(&barrier);
        }
        pthread_join(thread, NULL);
        for (int i = 0; i < LINES; i++)
                lines[i].words[0] = i;
        for (int pass = 0; pass < PASSES; pass++)
                sum += gather(lines);
        printf("%ld\n", sum);
        free(lines);
        return 0;
}
