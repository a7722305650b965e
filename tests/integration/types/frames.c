/* SPDX-License-Identifier: MIT */
/* Threads read arrays in the frames of another thread's functions, which waits meanwhile
 * or works itself. The results are known by construction; truth.h writes them down. */
#include <pthread.h>
#include <stdint.h>

#include "truth.h"

#define COUNT    256
#define ROUNDS   32
#define NOINLINE __attribute__((noinline))

struct cell {
        long key;
        int mass;
        short kind;
        double place[3];
};

struct pair {
        struct pair *other;
        unsigned value;
};

/* A worker gets the addresses of other threads' frames, as with OpenMP. */
struct work {
        pthread_barrier_t *step;
        const struct cell *cells;  /* of main's frame */
        const double *weights;     /* of a function that main called */
        const struct pair **pairs; /* at first of this worker's frame, then another */
        double sum;
};

static volatile double result;

static void wait_for(pthread_barrier_t *step)
{
        pthread_barrier_wait(step);
}

ADDS(double, read_cells, (const struct cell *cells), (int i = 0; i < COUNT; i++),
     cells[i].place[i % 3] + (double)cells[i].key * cells[i].mass)

ADDS(double, read_weights, (const double *weights), (int i = 0; i < COUNT; i++),
     weights[i * 7 % COUNT])

ADDS(double, read_first, (const struct pair *pairs), (int i = 0; i < COUNT; i++),
     pairs[i].other->value)

ADDS(double, read_second, (const struct cell *cells), (int i = 0; i < COUNT; i++),
     cells[i].kind + (double)cells[i].key)

ADDS(double, read_outer, (const int *numbers), (int i = 0; i < COUNT; i++), numbers[i])

static void fill_cells(struct cell *cells)
{
        for (int i = 0; i < COUNT; i++)
                cells[i] = (struct cell){i, i % 7, (short)(i % 3), {i, i, i}};
}

static const void *volatile shown; /* by one worker to the other and main */
static const int *volatile outer;

/* ---- two functions of one worker, whose arrays lie in the same memory ---- */

NOINLINE static double show_first(struct work *work)
{
        struct pair pairs[COUNT];

        for (unsigned i = 0; i < COUNT; i++)
                pairs[i] = (struct pair){&pairs[i * 5 % COUNT], i};
        truth_object("stack", "show_first::pairs", "struct pair", pairs, sizeof(*pairs),
                     COUNT, "read_first");
        shown = pairs;
        wait_for(work->step);
        /* Others read it now. */
        wait_for(work->step);
        return pairs[3].value;
}

NOINLINE static double show_second(struct work *work)
{
        struct cell cells[COUNT];

        fill_cells(cells);
        truth_object("stack", "show_second::cells", "struct cell", cells, sizeof(*cells),
                     COUNT, "read_second");
        shown = cells;
        wait_for(work->step);
        /* This thread reads as well, while it is asked for its frames again and again. */
        double sum = 0;

        for (int i = 0; i < ROUNDS; i++)
                sum += read_second(cells) + read_outer(outer);
        wait_for(work->step);
        return sum + cells[5].mass;
}

/* Two frames below the one that others read. */
NOINLINE static double show_both(struct work *work)
{
        int numbers[COUNT];

        for (int i = 0; i < COUNT; i++)
                numbers[i] = i;
        truth_object("stack", "show_both::numbers", "int", numbers, sizeof(*numbers),
                     COUNT, "read_outer");
        outer = numbers;
        double sum = show_first(work) + show_second(work);

        return sum + numbers[7];
}

static void *show(void *argument)
{
        struct work *work = argument;

        for (int i = 0; i < ROUNDS; i++)
                work->sum += read_cells(work->cells) + read_weights(work->weights);
        work->sum += show_both(work);
        return NULL;
}

static void *look(void *argument)
{
        struct work *work = argument;

        for (int i = 0; i < ROUNDS; i++)
                work->sum += read_cells(work->cells) + read_weights(work->weights);
        wait_for(work->step);
        for (int i = 0; i < ROUNDS; i++)
                work->sum += read_first(shown) + read_outer(outer);
        wait_for(work->step);
        wait_for(work->step);
        for (int i = 0; i < ROUNDS; i++)
                work->sum += read_second(shown) + read_outer(outer);
        wait_for(work->step);
        return NULL;
}

/* ---- main ---- */

NOINLINE static double run(const struct cell *cells)
{
        double weights[COUNT];
        pthread_barrier_t step;
        struct work works[2];
        pthread_t workers[2];
        double sum = 0;

        for (int i = 0; i < COUNT; i++)
                weights[i] = i;
        truth_object("stack", "run::weights", "double", weights, sizeof(*weights), COUNT,
                     "read_weights");
        pthread_barrier_init(&step, NULL, 2);
        for (int i = 0; i < 2; i++) {
                works[i] =
                    (struct work){.step = &step, .cells = cells, .weights = weights};
                pthread_create(&workers[i], NULL, i == 0 ? show : look, &works[i]);
        }
        /* At first this thread works too, then it waits. */
        for (int i = 0; i < ROUNDS / 2; i++)
                sum += read_cells(cells) + read_weights(weights);
        for (int i = 0; i < 2; i++) {
                pthread_join(workers[i], NULL);
                sum += works[i].sum;
        }
        pthread_barrier_destroy(&step);
        return sum;
}

#ifdef _OPENMP
NOINLINE static double run_parallel(void)
{
        struct cell shared[COUNT];
        double sum = 0;

        fill_cells(shared);
        truth_object("stack", "run_parallel::shared", "struct cell", shared,
                     sizeof(*shared), COUNT, "run_parallel._omp_fn.0");
#pragma omp parallel for reduction(+ : sum) num_threads(3)
        for (int i = 0; i < COUNT * ROUNDS; i++)
                sum += shared[i % COUNT].mass * shared[i * 7 % COUNT].place[1];
        return sum;
}
#endif

int main(void)
{
        struct cell cells[COUNT];

        truth_open();
        TRUTH_FIELDS(cell, key, mass, kind);
        TRUTH_ARRAY(cell, place);
        TRUTH_FIELDS(pair, other, value);
        fill_cells(cells);
        truth_object("stack", "main::cells", "struct cell", cells, sizeof(*cells), COUNT,
                     "read_cells");
        result = run(cells);
#ifdef _OPENMP
        result = run_parallel();
#endif
        truth_close();
        return 0;
}
