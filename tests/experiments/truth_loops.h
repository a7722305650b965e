/* SPDX-License-Identifier: MIT */
/* What the loops of truth.c and truth_shapes.c share. */
#ifndef TRUTH_LOOPS_H
#define TRUTH_LOOPS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

enum { LINE = 64, PAGE = 4096, HUGE_PAGE = 2 << 20, THREADS_MAX = 64 };

/* A thread's part of the work. */
struct part {
        size_t number, bytes, passes, extra;
        char *memory;
        uint64_t random, result;
};

struct loop {
        const char *name;
        void (*run)(struct part *part);
        bool small_pages;
};

extern pthread_barrier_t start; /* a loop's threads wait here when they are prepared */
extern size_t thread_count;

/* run_NAME, which does the statement once when all threads are there, or in each pass. */
#define RUN(name, ...)                                                                   \
        static void run_##name(struct part *part)                                        \
        {                                                                                \
                pthread_barrier_wait(&start);                                            \
                __VA_ARGS__;                                                             \
        }
#define RUN_PASSES(name, ...)                                                            \
        RUN(name, for (size_t pass = 0; pass < part->passes; pass++) __VA_ARGS__)

/* Loops of ordinary programs, followed by one without a name. */
extern const struct loop shapes[];

static inline uint64_t *words_of(const struct part *part)
{
        return (uint64_t *)(void *)part->memory;
}

static inline double *doubles_of(const struct part *part)
{
        return (double *)(void *)part->memory;
}

static inline uint64_t next_random(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

#endif
