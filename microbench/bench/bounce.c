/* SPDX-License-Identifier: MIT */
/* Bounces a cache line between neighbouring CPUs, and lets both compute. First every
 * other pair, then the rest: many CPUs take no longer than three. */
#include "bounce.h"

#include <errno.h>
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elapsed.h"
#include "measure.h"

enum { BATCHES = 10, TRIPS = 40, SPINS = 256 };

/* Phases after the round trips: one CPU computes alone, then beside the other. */
enum { ALONE = 2 * BATCHES * TRIPS, BESIDE, DONE };

enum { COMPUTATIONS = 6, REPEATS = 250 };

/* Prefetchers fetch lines in pairs. */
enum { BALL_BYTES = 128 };

/* Limit for the other CPU's answer: a slower thread is not running. */
static const double PATIENCE_SECONDS = 0.005;

struct ball {
        _Alignas(BALL_BYTES) atomic_uint hits; /* odd: the answer is expected */
        atomic_bool dropped;                   /* one of both players has given up */
        atomic_uint computations;              /* by the answering player */
};

struct player {
        pthread_t thread;
        size_t index;
        struct ball *own;     /* shared with the next player; NULL: none */
        struct ball *before;  /* shared with the previous player */
        struct bounce bounce; /* result with the next player */
};

/* Waits until HITS arrive with the line; false: gave up. */
static bool awaits(struct ball *ball, unsigned hits)
{
        double end = INFINITY;
        for (unsigned i = 1; atomic_load(&ball->hits) != hits; i++) {
                if (i % SPINS != 0)
                        continue;
                double now = clock_seconds();
                end = fmin(end, now + PATIENCE_SECONDS);
                if (now > end)
                        atomic_store(&ball->dropped, true);
                if (atomic_load(&ball->dropped))
                        return false;
        }
        return true;
}

/* More additions per cycle than either thread of a shared core can execute; takes some
 * microseconds. */
static double compute_seconds(void)
{
        double begin = clock_seconds();
        for (int i = 0; i < REPEATS; i++)
                __asm__ volatile(".rept 20\n\t"
                                 "add $1, %%rax\n\tadd $1, %%rcx\n\t"
                                 "add $1, %%rdx\n\tadd $1, %%rsi\n\t"
                                 "add $1, %%rdi\n\tadd $1, %%r8\n\t"
                                 "add $1, %%r9\n\tadd $1, %%r10\n\t"
                                 ".endr"
                                 :
                                 :
                                 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
                                   "cc");
        return clock_seconds() - begin;
}

static double least_computation(void)
{
        double least = INFINITY;
        for (int i = 0; i < COMPUTATIONS; i++)
                least = fmin(least, compute_seconds());
        return least;
}

/* Computes while the other CPU waits, then while it computes too. */
static double slowdown(struct ball *ball)
{
        double alone = least_computation(), end = clock_seconds() + PATIENCE_SECONDS;
        atomic_store(&ball->hits, BESIDE);
        while (atomic_load(&ball->computations) == 0 && clock_seconds() < end)
                _mm_pause();
        unsigned before = atomic_load(&ball->computations);
        double beside = least_computation();
        unsigned meanwhile = atomic_load(&ball->computations) - before;
        atomic_store(&ball->hits, DONE);
        return meanwhile >= COMPUTATIONS / 2 ? beside / alone : NAN;
}

/* The other player's part; a pause leaves the core's units to the other thread. */
static void compute_beside(struct ball *ball)
{
        while (atomic_load(&ball->hits) < BESIDE && !atomic_load(&ball->dropped))
                _mm_pause();
        while (atomic_load(&ball->hits) == BESIDE) {
                compute_seconds();
                atomic_fetch_add(&ball->computations, 1);
        }
}

static double serve(struct ball *ball)
{
        double least = NAN;
        unsigned hits = 0;
        for (int batch = 0; batch < BATCHES; batch++) {
                double seconds = clock_seconds();
                for (int trip = 0; trip < TRIPS; trip++) {
                        atomic_store(&ball->hits, ++hits);
                        if (!awaits(ball, ++hits))
                                return NAN;
                }
                least = fmin(least, (clock_seconds() - seconds) / TRIPS);
        }
        return least * 1e9;
}

static void answer(struct ball *ball)
{
        for (unsigned hits = 1; hits < 2 * BATCHES * TRIPS; hits += 2) {
                if (!awaits(ball, hits))
                        return;
                atomic_store(&ball->hits, hits + 1);
        }
        compute_beside(ball);
}

static void *player_main(void *argument)
{
        struct player *player = argument;
        for (size_t half = 0; half < 2; half++) {
                if (player->index % 2 != half && player->before)
                        answer(player->before);
                if (player->index % 2 == half && player->own) {
                        player->bounce.ns = serve(player->own);
                        if (!isnan(player->bounce.ns))
                                player->bounce.slowdown = slowdown(player->own);
                }
        }
        return NULL;
}

/* Starts threads on their CPUs, from the last to the first, whose CPU may be the
 * caller's. The other order could block: a player occupies its CPU while it waits.
 * Returns the index of the last started player. */
static size_t start_players(struct player *players, size_t count, struct ball *balls,
                            const int *cpus, int *error)
{
        size_t first = count;
        *error = 0;
        while (first > 0) {
                size_t i = first - 1;
                players[i] = (struct player){.index = i,
                                             .own = i + 1 < count ? &balls[i] : NULL,
                                             .before = i > 0 ? &balls[i - 1] : NULL,
                                             .bounce = {NAN, NAN}};
                *error = cpu_start_thread(cpus[i], player_main, &players[i],
                                          &players[i].thread);
                if (*error)
                        break;
                first = i;
        }
        return first;
}

int bounce_lines(const int *cpus, size_t count, struct bounce *bounces, struct diag *diag)
{
        struct player *players = calloc(count, sizeof(*players));
        struct ball *balls = aligned_alloc(BALL_BYTES, count * sizeof(*balls));
        int error = ENOMEM;
        if (players && balls) {
                memset(balls, 0, count * sizeof(*balls));
                size_t first = start_players(players, count, balls, cpus, &error);
                for (size_t i = first; i < count; i++)
                        pthread_join(players[i].thread, NULL);
                for (size_t i = 0; i + 1 < count; i++)
                        bounces[i] = players[i].bounce;
        }
        free(balls);
        free(players);
        return error ? diag_set(diag, -error,
                                "cannot start a thread on each of %zu CPUs: %s", count,
                                strerror(error))
                     : 0;
}
