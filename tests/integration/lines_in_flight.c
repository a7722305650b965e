/* SPDX-License-Identifier: MIT */
/* Slow hits of fill buffers without DRAM: another thread has just written the words, or
 * more lines of the last cache are requested at once than there are buffers. Then bursts
 * of more lines of DRAM than there are buffers, between other work. */
#include "target.h"

enum { WORDS = 8192, ROUNDS = 100, LINES = 60000, PASSES = 50 };
enum { BURST_LINES = 2000, BURSTS = 100, BETWEEN = 150000 };

static long words[WORDS];
static pthread_barrier_t barrier;

/* Eight words a line: the first requests it from the other core, the others wait. */
NOINLINE static long take(void)
{
        long sum = 0;
        for (int i = 0; i < WORDS; i++)
                sum += words[i];
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

/* The stores, to 4 MiB in an order that no prefetcher knows, take all fill buffers. Loads
 * between them have 16 words in a line. */
NOINLINE static void scatter(struct line *lines, const int *order)
{
        for (int i = 0; i < LINES; i++) {
                lines[order[i]].words[0] = i;
                lines[order[i]].words[1] = order[i + 1];
        }
}

/* One word of each line, side by side: a load waits only for a free buffer. */
NOINLINE static long burst(const struct line *lines)
{
        long sum = 0;
        for (int i = 0; i < BURST_LINES; i++)
                sum += lines[i].words[0];
        return sum;
}

NOINLINE static long other_work(long number)
{
        for (int i = 0; i < BETWEEN; i++)
                number = number * 5 + i;
        return number;
}

static long bursts(const struct line *lines)
{
        long sum = 0;
        for (int i = 0; i < BURSTS; i++)
                sum += burst(lines + (size_t)i * BURST_LINES) + other_work(i);
        return sum;
}

/* Writes the lines to memory: unwritten pages share a page of zeroes, in the caches. */
static void write_out(struct line *lines, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                lines[i].words[0] = 1;
                __builtin_ia32_clflush(&lines[i]);
        }
}

static void shuffle(int *order)
{
        unsigned long random = 12345;
        for (int i = 0; i < LINES; i++)
                order[i] = i;
        for (int i = LINES - 1; i > 0; i--) {
                random = random * 6364136223846793005ul + 1;
                int other = (int)((random >> 33) % (unsigned long)(i + 1));
                int line = order[i];
                order[i] = order[other];
                order[other] = line;
        }
}

int main(void)
{
        long sum = 0;
        pthread_t thread;
        struct line *lines = calloc(LINES, sizeof(*lines));
        struct line *far = calloc((size_t)BURSTS * BURST_LINES, sizeof(*far));
        int *order = calloc(LINES + 1, sizeof(*order));
        if (!lines || !far || !order || pthread_barrier_init(&barrier, NULL, 2) ||
            pthread_create(&thread, NULL, taker, &sum))
                return 1;
        for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < WORDS; i++)
                        words[i] = round + i;
                pthread_barrier_wait(&barrier);
                pthread_barrier_wait(&barrier);
        }
        pthread_join(thread, NULL);
        shuffle(order);
        for (int pass = 0; pass < PASSES; pass++)
                scatter(lines, order);
        write_out(far, (size_t)BURSTS * BURST_LINES);
        sum += bursts(far);
        printf("%ld\n", sum + lines[0].words[0]);
        free(lines);
        free(far);
        free(order);
        return 0;
}
