/* SPDX-License-Identifier: MIT */
/* Two threads alternate on some lines: one writes, the other one chases through them. */
#include "modified.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "elapsed.h"
#include "interference.h"
#include "measure.h"
#include "random.h"

/* One line per page, because some prefetchers learn which lines of a page are used
 * together. As many pages as the first TLB level of any CPU holds. The position in the
 * page varies: the lines are in different cache sets. */
enum { LINES = 48, PAGE_BYTES = 4096, LINE_BYTES = 64, SPINS = 256 };

/* Limit for the writer's answer: a slower thread is not running. */
static const double PATIENCE_SECONDS = 0.02;

struct line {
        struct line *next; /* next in the chase */
        uint64_t written;
};

struct turns {
        _Alignas(2 * LINE_BYTES) atomic_size_t asked; /* set by the chasing thread */
        _Alignas(2 * LINE_BYTES) atomic_size_t done;  /* set by the writer */
        _Alignas(2 * LINE_BYTES) atomic_bool over;
        _Alignas(PAGE_BYTES) char pages[LINES][PAGE_BYTES];
};

static struct line *line_of(struct turns *turns, size_t page)
{
        size_t lines = PAGE_BYTES / LINE_BYTES;
        return (struct line *)(turns->pages[page] + page % lines * LINE_BYTES);
}

static void *write_lines(void *argument)
{
        struct turns *turns = argument;
        for (size_t turn = 1;; turn++) {
                while (atomic_load(&turns->asked) < turn)
                        if (atomic_load(&turns->over))
                                return NULL;
                for (size_t i = 0; i < LINES; i++)
                        *(volatile uint64_t *)&line_of(turns, i)->written = turn;
                atomic_store(&turns->done, turn); /* after all writes */
        }
}

/* One cycle through all lines, in an unpredictable order. */
static void link_lines(struct turns *turns)
{
        struct random random = random_seeded(1);
        size_t order[LINES];
        for (size_t i = 0; i < LINES; i++)
                order[i] = i;
        for (size_t i = LINES - 1; i > 0; i--) {
                size_t j = random_below(&random, i + 1), kept = order[i];
                order[i] = order[j];
                order[j] = kept;
        }
        for (size_t i = 0; i < LINES; i++)
                line_of(turns, order[i])->next = line_of(turns, order[(i + 1) % LINES]);
}

/* Requests TURN from the writer; false: gave up. */
static bool await_writer(struct turns *turns, size_t turn)
{
        double end = clock_seconds() + PATIENCE_SECONDS;
        atomic_store(&turns->asked, turn);
        for (unsigned i = 1; atomic_load(&turns->done) < turn; i++)
                if (i % SPINS == 0 && clock_seconds() > end)
                        return false;
        return true;
}

/* The overhead of reading the clock. */
static double clock_cost(void)
{
        double least = INFINITY;
        for (int i = 0; i < 16; i++) {
                double seconds = clock_seconds();
                least = fmin(least, clock_seconds() - seconds);
        }
        return least;
}

static struct modified_round load_lines(const struct line *line, double cost)
{
        long switches = interference_switches();
        double seconds = clock_seconds();
        for (size_t i = 0; i < LINES; i++)
                line = *(struct line *const volatile *)&line->next;
        seconds = clock_seconds() - seconds - cost;
        return (struct modified_round){seconds * 1e9 / LINES,
                                       interference_switches() != switches};
}

int modified_lines(int writer, struct modified_round *rounds, size_t count,
                   size_t *finished, struct diag *diag)
{
        struct turns *turns = aligned_alloc(PAGE_BYTES, sizeof(*turns));
        pthread_t thread;
        *finished = 0;
        if (!turns)
                return diag_no_memory(diag);
        memset(turns, 0, sizeof(*turns));
        link_lines(turns);
        double cost = clock_cost();
        int error = cpu_start_thread(writer, write_lines, turns, &thread);
        if (!error) {
                while (*finished < count && await_writer(turns, *finished + 1))
                        rounds[(*finished)++] = load_lines(line_of(turns, 0), cost);
                atomic_store(&turns->over, true);
                pthread_join(thread, NULL);
        }
        free(turns);
        return error ? diag_set(diag, -error, "cannot start a thread on CPU %d: %s",
                                writer, strerror(error))
                     : 0;
}
