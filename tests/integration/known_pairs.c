/* SPDX-License-Identifier: MIT */
/* known_pairs NAME:PASSES...: each in a process of its own. Two names make a pair: the
 * same work on memory that is laid out or accessed in another way. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { PAGE = 4096 };
static uint64_t result;

static void *memory(size_t bytes)
{
        void *start = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
        if (!start)
                abort();
        memset(start, 0, bytes);
        return start;
}

static uint64_t next_random(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

/* ---- a matrix that is transposed: rows of 2 KiB, or of a little more ---- */

enum { ROWS = 512 };

NOINLINE static void transpose(uint32_t *matrix, size_t width)
{
        for (size_t i = 1; i < ROWS; i++)
                for (size_t k = 0; k < i; k++) {
                        uint32_t row = matrix[i * width + k];
                        uint32_t column = matrix[k * width + i]; /* column */
                        matrix[i * width + k] = column;
                        matrix[k * width + i] = row;
                }
}

static void run_transpose(size_t passes, size_t width)
{
        uint32_t *matrix = memory(ROWS * width * sizeof(*matrix));
        for (size_t i = 0; i < passes; i++)
                transpose(matrix, width);
        result += matrix[1];
}

/* ---- counts of two threads, in one line or two ---- */

static _Alignas(PAGE) _Atomic uint64_t counts[PAGE / sizeof(uint64_t)];
static pthread_barrier_t start;

enum { COUNTS = 40000 };

struct counter {
        _Atomic uint64_t *count;
        size_t times;
};

NOINLINE static void count(_Atomic uint64_t *number, size_t times)
{
        for (size_t i = 0; i < times; i++)
                atomic_fetch_add_explicit(number, 1, memory_order_relaxed); /* count */
}

static void *run_counter(void *argument)
{
        struct counter *counter = argument;
        pthread_barrier_wait(&start);
        count(counter->count, counter->times);
        return NULL;
}

static void run_counts(size_t passes, size_t distance)
{
        struct counter two[2] = {{counts, passes * COUNTS},
                                 {counts + distance / sizeof(*counts), passes * COUNTS}};
        pthread_t other;
        pthread_barrier_init(&start, NULL, 2);
        if (pthread_create(&other, NULL, run_counter, &two[1]))
                abort();
        run_counter(&two[0]);
        pthread_join(other, NULL);
}

/* ---- two numbers of a particle: among others, or in arrays of their own ---- */

enum { PARTICLES = 65536 };

struct particle {
        float position, speed;
        float other[14];
};

NOINLINE static void move_structures(struct particle *all)
{
        for (size_t i = 0; i < PARTICLES; i++)
                all[i].position += all[i].speed; /* structures */
}

NOINLINE static void move_arrays(float *position, const float *speed)
{
        for (size_t i = 0; i < PARTICLES; i++)
                position[i] += speed[i];
}

static void run_particles(size_t passes, size_t arrays)
{
        struct particle *all = memory(PARTICLES * sizeof(*all));
        float *numbers = memory(2 * PARTICLES * sizeof(*numbers));
        for (size_t i = 0; i < passes; i++) {
                if (arrays)
                        move_arrays(numbers, numbers + PARTICLES);
                else
                        move_structures(all);
        }
        result += (uint64_t)(numbers[1] + all[1].position);
}

/* ---- a list: in the order of its addresses, or in another ---- */

enum { NODES = 262144 };

struct node {
        struct node *next;
        uint64_t value;
};

NOINLINE static uint64_t sum_list(const struct node *node)
{
        uint64_t sum = 0;
        for (; node; node = node->next)
                sum += node->value; /* list */
        return sum;
}

static void run_list(size_t passes, size_t shuffled)
{
        struct node *nodes = memory(NODES * sizeof(*nodes));
        uint32_t *order = memory(NODES * sizeof(*order));
        uint64_t state = 88172645463325252u;
        for (uint32_t i = 0; i < NODES; i++)
                order[i] = i;
        for (size_t i = NODES - 1; shuffled && i > 0; i--) {
                size_t other = next_random(&state) % i;
                uint32_t mine = order[i];
                order[i] = order[other];
                order[other] = mine;
        }
        for (size_t i = 0; i + 1 < NODES; i++)
                nodes[order[i]].next = &nodes[order[i + 1]];
        for (size_t i = 0; i < passes; i++)
                result += sum_list(&nodes[order[0]]);
}

/* ---- two sums of arrays, in one loop or in two ---- */

enum { NUMBERS = 65536 };

NOINLINE static void add_in_one(double *a, const double *b, double *c, const double *d)
{
        for (size_t i = 0; i < NUMBERS; i++) {
                a[i] += b[i];
                c[i] += d[i];
        }
}

NOINLINE static void add_in_two(double *a, const double *b, double *c, const double *d)
{
        for (size_t i = 0; i < NUMBERS; i++)
                a[i] += b[i];
        for (size_t i = 0; i < NUMBERS; i++)
                c[i] += d[i];
}

static void run_loops(size_t passes, size_t two)
{
        double *arrays[4];
        for (size_t i = 0; i < 4; i++)
                arrays[i] = memory(NUMBERS * sizeof(*arrays[i]));
        for (size_t i = 0; i < passes; i++)
                (two ? add_in_two : add_in_one)(arrays[0], arrays[1], arrays[2],
                                                arrays[3]);
}

static const struct loop {
        const char *name;
        void (*run)(size_t passes, size_t which);
        size_t which;
} loops[] = {
    {"transpose-512", run_transpose, 512},
    {"transpose-520", run_transpose, 520},
    {"counts-beside", run_counts, 8},
    {"counts-apart", run_counts, 128},
    {"structures", run_particles, 0},
    {"arrays", run_particles, 1},
    {"list-shuffled", run_list, 1},
    {"list-sorted", run_list, 0},
    {"one-loop", run_loops, 0},
    {"two-loops", run_loops, 1},
};

static int run(const char *text)
{
        const char *colon = strchr(text, ':');
        for (size_t i = 0; colon && i < sizeof(loops) / sizeof(loops[0]); i++) {
                if (strlen(loops[i].name) != (size_t)(colon - text) ||
                    strncmp(loops[i].name, text, (size_t)(colon - text)) != 0)
                        continue;
                loops[i].run(strtoul(colon + 1, NULL, 10), loops[i].which);
                return result == 1;
        }
        return 2;
}

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                pid_t child = fork();
                int status;
                if (child == 0)
                        _exit(run(argv[i]));
                if (child < 0 || waitpid(child, &status, 0) != child || status)
                        return 1;
        }
        return 0;
}
