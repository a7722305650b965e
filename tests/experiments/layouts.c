/* SPDX-License-Identifier: MIT */
/* Small programs whose data has a layout that costs time, and with -DREWRITTEN the same
 * programs with a better one. One is chosen by its name,
 * as by -DPARTICLES. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone))

static unsigned state = 1;

static unsigned next_random(void)
{
        return (state = state * 1664525u + 1013904223u) >> 8;
}

#if defined(PARTICLES) /* two of eight members are read in order: soa */

enum { COUNT = 300000, PASSES = 6 };
#ifdef REWRITTEN
struct particles {
        double *x, *y, *z, *vx, *vy, *vz, *mass, *charge;
};
#define OF(i, member) all->member[i]
#else
struct particle {
        double x, y, z, vx, vy, vz, mass, charge;
};
#define OF(i, member) all[i].member
#define particles     particle /* the type's name */
#endif

static APART void fill(struct particles *all)
{
        for (long i = 0; i < COUNT; i++) {
                OF(i, x) = (double)i;
                OF(i, y) = OF(i, z) = OF(i, vx) = 1;
                OF(i, vy) = OF(i, vz) = OF(i, charge) = 2;
                OF(i, mass) = 3;
        }
}

static APART double moment(const struct particles *all)
{
        double sum = 0;
        for (long i = 0; i < COUNT; i++)
                sum += OF(i, x) * OF(i, mass);
        return sum;
}

int main(void)
{
        double sum = 0;
#ifdef REWRITTEN
        struct particles arrays, *all = &arrays;
        double **members[] = {&all->x,  &all->y,  &all->z,    &all->vx,
                              &all->vy, &all->vz, &all->mass, &all->charge};
        for (int i = 0; i < 8; i++)
                *members[i] = malloc(COUNT * sizeof(double));
#else
        struct particle *all = malloc(COUNT * sizeof(*all));
#endif
        fill(all);
        for (int i = 0; i < PASSES; i++)
                sum += moment(all);
        printf("%g\n", sum);
}

#elif defined(ACCOUNTS) /* three of four members are read at random: split */

enum { COUNT = 120000, LOOKUPS = 60000, PASSES = 5 };
struct rest {
        char name[40];
        long balance[5];
};
#ifdef REWRITTEN
struct account {
        unsigned key, next;
        double rate;
};
#else
struct account {
        unsigned key, next;
        struct rest rest;
        double rate;
};
#endif

/* Each account leads to another one. */
static APART void fill(struct account *all)
{
        for (unsigned i = 0; i < COUNT; i++) {
                all[i].key = i;
                all[i].next = (i * 70001u + 12345u) % COUNT;
                all[i].rate = 1;
        }
}

static APART double follow(const struct account *all, const struct rest *rests)
{
        double sum = 0;
        unsigned at = 1;
        for (int i = 0; i < LOOKUPS; i++) {
                sum += all[at].rate + all[at].key;
                at = all[at].next;
        }
#ifdef REWRITTEN
        return sum + (double)rests[at].balance[1];
#else
        return sum + (double)all[at].rest.balance[1];
#endif
}

int main(void)
{
        struct account *all = malloc(COUNT * sizeof(*all));
        double sum = 0;
#ifdef REWRITTEN
        struct rest *rests = malloc(COUNT * sizeof(*rests));
#else
        struct rest *rests = NULL;
#endif
        fill(all);
        for (int i = 0; i < PASSES; i++)
                sum += follow(all, rests);
        printf("%g\n", sum);
}

#elif defined(SEARCH) /* keys are searched, which takes fewer instructions when split */

enum { COUNT = 40000, LOOKUPS = 150000 };
struct entry {
        unsigned key;
        int limit;
#ifndef REWRITTEN
        long rest[5], more[6];
#endif
};

static APART void fill(struct entry *all)
{
        for (unsigned i = 0; i < COUNT; i++) {
                all[i].key = 3 * i;
                all[i].limit = (int)i;
        }
}

static APART int find(const struct entry *all, unsigned key)
{
        long low = 0, high = COUNT;
        while (high - low > 1) {
                const long middle = (low + high) / 2;
                if (all[middle].key <= key)
                        low = middle;
                else
                        high = middle;
        }
        return all[low].limit;
}

int main(void)
{
        struct entry *all = malloc(COUNT * sizeof(*all));
        long sum = 0;
        fill(all);
        for (int i = 0; i < LOOKUPS; i++)
                sum += find(all, next_random() % (3 * COUNT));
        printf("%ld\n", sum);
}

#elif defined(COLUMNS) /* rows are a power of two apart: pad */

enum { ROWS = 512, WIDTH = 512, PASSES = 6 };
struct row {
        long value[WIDTH];
#ifdef REWRITTEN
        char apart[64];
#endif
};

static APART void fill(struct row *rows)
{
        for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < WIDTH; j++)
                        rows[i].value[j] = i + j;
}

static APART long sum_columns(const struct row *rows)
{
        long largest = 0;
        for (int j = 0; j < WIDTH; j++) {
                long sum = 0;
                for (int i = 0; i < ROWS; i++)
                        sum += rows[i].value[j];
                largest = sum > largest ? sum : largest;
        }
        return largest;
}

int main(void)
{
        struct row *rows = malloc(ROWS * sizeof(*rows));
        long sum = 0;
        fill(rows);
        for (int i = 0; i < PASSES; i++)
                sum += sum_columns(rows);
        printf("%ld\n", sum);
}

#elif defined(COUNTERS) /* threads write to one line: align */

enum { THREADS = 2, STEPS = 40000 };
#ifdef REWRITTEN
struct counter {
        _Alignas(64) long even;
        long odd;
};
#else
struct counter {
        long even;
        long odd;
};
#endif
static struct counter counters[THREADS];

static APART void count(struct counter *counter, unsigned from)
{
        for (unsigned i = 0; i < STEPS; i++) {
                from = from * 1664525u + 1013904223u;
                if (from >> 31)
                        __atomic_fetch_add(&counter->odd, 1, __ATOMIC_RELAXED);
                else
                        __atomic_fetch_add(&counter->even, 1, __ATOMIC_RELAXED);
        }
}

static void *run(void *counter)
{
        count(counter, (unsigned)((struct counter *)counter - counters));
        return NULL;
}

int main(void)
{
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, run, &counters[i]);
        for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        printf("%ld\n", counters[0].odd + counters[1].odd);
}

#elif defined(LIST) /* key and link of a node are on two lines: reorder */

enum { COUNT = 8000, PASSES = 12 };
struct node {
        long key;
#ifdef REWRITTEN
        struct node *next;
#endif
        char text[104];
#ifndef REWRITTEN
        struct node *next;
#endif
};

static APART void join(struct node **nodes)
{
        for (long i = COUNT - 1; i > 0; i--) {
                const long other = next_random() % (i + 1);
                struct node *node = nodes[i];
                nodes[i] = nodes[other];
                nodes[other] = node;
        }
        for (long i = 0; i < COUNT; i++) {
                nodes[i]->key = i;
                nodes[i]->next = i + 1 < COUNT ? nodes[i + 1] : NULL;
        }
}

static APART long sum_keys(const struct node *node)
{
        long sum = 0;
        for (; node; node = node->next)
                sum += node->key;
        return sum;
}

int main(void)
{
        struct node **nodes = malloc(COUNT * sizeof(*nodes));
        long sum = 0;
        for (int i = 0; i < COUNT; i++)
                nodes[i] = malloc(sizeof(**nodes));
        join(nodes);
        for (int i = 0; i < PASSES; i++)
                sum += sum_keys(nodes[0]);
        printf("%ld\n", sum);
}

#elif defined(FLAGS) /* static, members of several sizes, one is written at random: soa  \
                      */

enum { COUNT = 30000, PASSES = 10, UPDATES = 100000 };
#ifdef REWRITTEN
static char used[COUNT];
static double value[COUNT];
static short kind[COUNT];
static double weight[COUNT];
#define ALL           void
#define OF(i, member) member[i]
#define THE_ITEMS
#else
static struct item {
        char used;
        double value;
        short kind;
        double weight;
} items[COUNT];
#define ALL           struct item *all
#define OF(i, member) all[i].member
#define THE_ITEMS     items
#endif

static APART void update(ALL)
{
        for (int i = 0; i < UPDATES; i++) {
                const unsigned at = next_random() % COUNT;
                OF(at, kind) += 1;
                OF(at, used) = 1;
        }
}

static APART long count_used(ALL)
{
        long sum = 0;
        for (long i = 0; i < COUNT; i++)
                sum += OF(i, used) + OF(i, kind);
        return sum;
}

int main(void)
{
        long sum = 0;
        for (int i = 0; i < PASSES; i++) {
                if (i % 5 == 0)
                        update(THE_ITEMS);
                sum += count_used(THE_ITEMS);
        }
        printf("%ld\n", sum);
}

#else
#error "choose a program"
#endif
