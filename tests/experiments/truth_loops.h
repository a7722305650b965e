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

/* Loops of ordinary programs, followed by one without a name. */
extern const struct loop shapes[];

static inline uint64_t next_random(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

#endif
