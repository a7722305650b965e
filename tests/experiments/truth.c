/* SPDX-License-Identifier: MIT */
/* Loops that wait for memory in many ways: truth LOOP THREADS KIB PASSES [EXTRA]. Each
 * thread has KIB of its own, and runs the loop PASSES times. Threads start a loop
 * together. EXTRA is said at each loop. truth.py finds out what each waits for. */
#include <emmintrin.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "truth_loops.h"

enum { CHAINS = 8 };

struct node {
        struct node *next;
        uint64_t words[7];
};

static struct part parts[THREADS_MAX];
size_t thread_count;
pthread_barrier_t start;

static char *mapped(size_t bytes, int advice)
{
        char *memory = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                exit(1);
        memory += -(uintptr_t)memory % HUGE_PAGE;
        madvise(memory, bytes, advice);
        return memory;
}

/* A closed ring through a power of two of nodes that lie STRIDE bytes apart, and a line
 * farther in each page if the stride is a page. A linear congruential generator of full
 * period gives the order. */
static char *node_at(const struct part *part, size_t stride, size_t i)
{
        return part->memory + i * stride +
               (stride == PAGE ? i % (PAGE / LINE) * LINE : 0);
}

static struct node *make_ring(const struct part *part, size_t stride)
{
        const size_t count = part->bytes / stride;
        for (size_t i = 0; i < count; i++)
                ((struct node *)(void *)node_at(part, stride, i))->next =
                    (struct node *)(void *)node_at(
                        part, stride, (i * 2862933555777941757u + 3037000493u) % count);
        return (struct node *)(void *)part->memory;
}

/* ---- one load after the other; EXTRA: additions between two ---- */

NOINLINE static const struct node *chase(const struct node *node, size_t hops,
                                         size_t work)
{
        uint64_t sum = 1;
        for (size_t i = 0; i < hops; i++) {
                node = node->next;
                for (size_t k = 0; k < work; k++)
                        __asm__ volatile("add $1, %0" : "+r"(sum));
        }
        return node;
}

static void run_chase(struct part *part)
{
        const struct node *first = make_ring(part, LINE);
        pthread_barrier_wait(&start);
        part->result =
            (uintptr_t)chase(first, part->passes * part->bytes / LINE, part->extra);
}

NOINLINE static uint64_t pages(const struct node *node, size_t hops)
{
        for (size_t i = 0; i < hops; i++)
                node = node->next;
        return (uintptr_t)node;
}

static void run_pages(struct part *part)
{
        const struct node *first = make_ring(part, PAGE);
        pthread_barrier_wait(&start);
        part->result = pages(first, part->passes * part->bytes / PAGE);
}

/* ---- several chains side by side ---- */

NOINLINE static uint64_t chains(const struct node *const *heads, size_t hops)
{
        const struct node *at[CHAINS];
        memcpy(at, heads, sizeof(at));
        for (size_t i = 0; i < hops; i++)
                for (int k = 0; k < CHAINS; k++)
                        at[k] = at[k]->next;
        uint64_t sum = 0;
        for (int k = 0; k < CHAINS; k++)
                sum += (uintptr_t)at[k];
        return sum;
}

static void run_chains(struct part *part)
{
        const size_t hops = part->bytes / LINE / CHAINS;
        const struct node *heads[CHAINS];
        heads[0] = make_ring(part, LINE);
        for (int k = 1; k < CHAINS; k++) {
                heads[k] = heads[k - 1];
                for (size_t i = 0; i < hops; i++)
                        heads[k] = heads[k]->next;
        }
        pthread_barrier_wait(&start);
        part->result = chains(heads, part->passes * hops);
}

/* ---- streams ---- */

NOINLINE static uint64_t sum(const uint64_t *words, size_t count)
{
        uint64_t all = 0;
        for (size_t i = 0; i < count; i++) {
                all += words[i];
                __asm__ volatile("" : "+r"(all));
        }
        return all;
}

RUN_PASSES(sum, part->result += sum(words_of(part), part->bytes / sizeof(uint64_t)))

/* The other thread's memory, which may be another node's. */
static void run_remote(struct part *part)
{
        const struct part *other = &parts[part->number ^ 1];
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                part->result += sum((const uint64_t *)(void *)other->memory,
                                    part->bytes / sizeof(uint64_t));
}

static void run_remote_chase(struct part *part)
{
        static const struct node *rings[THREADS_MAX];
        rings[part->number] = make_ring(part, LINE);
        pthread_barrier_wait(&start);
        part->result = (uintptr_t)chase(rings[part->number ^ 1],
                                        part->passes * part->bytes / LINE, 0);
}

/* EXTRA: multiplications for each record. */
NOINLINE static uint64_t records(const char *memory, size_t count, size_t work)
{
        uint64_t all = 0;
        for (size_t i = 0; i < count; i++) {
                uint64_t word = *(const uint64_t *)(const void *)(memory + i * LINE);
                for (size_t k = 0; k < work; k++)
                        word = word * 3 + 1;
                all += word;
        }
        return all;
}

RUN_PASSES(records,
           part->result += records(part->memory, part->bytes / LINE, part->extra))

/* Threads meet, read a little together, and compute for longer; EXTRA: for how long. */
static void run_bursts(struct part *part)
{
        const size_t chunk = 128 << 10;
        for (size_t at = 0; at + chunk <= part->bytes; at += chunk) {
                pthread_barrier_wait(&start);
                part->result += sum((const uint64_t *)(void *)(part->memory + at),
                                    chunk / sizeof(uint64_t));
                for (size_t i = 0; i < part->extra; i++)
                        next_random(&part->random);
        }
}

NOINLINE static void fill(uint64_t *words, size_t count, uint64_t value)
{
        for (size_t i = 0; i < count; i++) {
                words[i] = value;
                __asm__ volatile("" ::: "memory");
        }
}

RUN_PASSES(fill, fill(words_of(part), part->bytes / sizeof(uint64_t), pass))

NOINLINE static void fill_around(char *memory, size_t bytes)
{
        for (size_t i = 0; i < bytes; i += sizeof(__m128i))
                _mm_stream_si128((__m128i *)(void *)(memory + i), _mm_set1_epi64x(1));
        _mm_sfence();
}

RUN_PASSES(fill_around, fill_around(part->memory, part->bytes))

NOINLINE static void copy(double *restrict to, const double *restrict from, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                to[i] = from[i];
                __asm__ volatile("" ::: "memory");
        }
}

static void run_copy(struct part *part)
{
        double *half = doubles_of(part);
        const size_t count = part->bytes / sizeof(double) / 2;
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                copy(half, half + count, count);
}

NOINLINE static void triad(double *restrict a, const double *restrict b,
                           const double *restrict c, size_t count)
{
        for (size_t i = 0; i < count; i++)
                a[i] = b[i] + 3 * c[i];
}

static void run_triad(struct part *part)
{
        double *a = doubles_of(part);
        const size_t count = part->bytes / sizeof(double) / 3;
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                triad(a, a + count, a + 2 * count, count);
}

NOINLINE static void stencil(double *restrict to, const double *restrict from,
                             size_t width, size_t height)
{
        for (size_t y = 1; y + 1 < height; y++)
                for (size_t x = 1; x + 1 < width; x++) {
                        const double *at = from + y * width + x;
                        to[y * width + x] =
                            0.2 * (at[0] + at[-1] + at[1] + *(at - width) + at[width]);
                }
}

static void run_stencil(struct part *part)
{
        enum { WIDTH = 1024 };
        double *half = doubles_of(part);
        const size_t height = part->bytes / sizeof(double) / 2 / WIDTH;
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                stencil(half, half + height * WIDTH, WIDTH, height);
}

/* Each element is in the middle of a chain of slow arithmetic. */
NOINLINE static double hidden(const double *from, size_t count)
{
        double all = 1;
        for (size_t i = 0; i < count; i++)
                all = (all + from[i]) * 0.5 + 0.25;
        return all;
}

RUN_PASSES(hidden, part->result +=
                   (uint64_t)hidden(doubles_of(part), part->bytes / sizeof(double)))

/* ---- random accesses that do not depend on each other ---- */

NOINLINE static uint64_t gather(const uint64_t *words, size_t mask, size_t count,
                                uint64_t state)
{
        uint64_t all = 0;
        for (size_t i = 0; i < count; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                all += words[state >> 24 & mask];
        }
        return all;
}

RUN(gather, part->result = gather(words_of(part), part->bytes / sizeof(uint64_t) - 1,
                                  part->passes * part->bytes / LINE, part->random))

NOINLINE static void scatter(uint64_t *words, size_t mask, size_t count, uint64_t state)
{
        for (size_t i = 0; i < count; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                words[state >> 24 & mask] = i;
        }
}

RUN(scatter, scatter(words_of(part), part->bytes / sizeof(uint64_t) - 1,
                     part->passes * part->bytes / LINE, part->random))

NOINLINE static void histogram(uint64_t *words, size_t mask, size_t count, uint64_t state)
{
        for (size_t i = 0; i < count; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                words[state >> 24 & mask]++;
        }
}

RUN(histogram, histogram(words_of(part), part->bytes / sizeof(uint64_t) - 1,
                         part->passes * part->bytes / LINE, part->random))

/* A table of heads, an eighth of the memory, and a node behind each. */
NOINLINE static uint64_t probe(struct node *const *heads, size_t mask, size_t count,
                               uint64_t state)
{
        uint64_t all = 0;
        for (size_t i = 0; i < count; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                const struct node *node = heads[state >> 24 & mask];
                all += node->words[0];
        }
        return all;
}

static void run_probe(struct part *part)
{
        const size_t count = part->bytes / 2 / LINE;
        struct node *nodes = (struct node *)(void *)(part->memory + part->bytes / 2);
        struct node **heads = (struct node **)(void *)part->memory;
        for (size_t i = 0; i < count; i++)
                heads[i] = &nodes[i * 2654435761u % count];
        pthread_barrier_wait(&start);
        part->result = probe(heads, count - 1, part->passes * count, part->random);
}

/* A tree whose nodes are in random order, down from the root for each key; the next key
 * depends on the leaf that was found. */
struct tree {
        uint32_t child[2];
        uint64_t key, words[6];
};

NOINLINE static uint64_t descend(const struct tree *nodes, uint64_t key, unsigned depth)
{
        uint32_t at = 0;
        for (unsigned i = 0; i < depth; i++)
                at = nodes[at].child[key >> i & 1];
        return nodes[at].key;
}

static void run_descend(struct part *part)
{
        struct tree *nodes = (struct tree *)(void *)part->memory;
        const size_t count = part->bytes / sizeof(*nodes);
        unsigned depth = 0;
        while ((size_t)2 << depth < count)
                depth++;
        /* An odd factor modulo a power of two is a permutation that keeps 0. */
        for (size_t i = 0; i < count / 2; i++)
                nodes[i * 2654435761u % count] = (struct tree){
                    .child = {(uint32_t)((2 * i + 1) * 2654435761u % count),
                              (uint32_t)((2 * i + 2) * 2654435761u % count)},
                    .key = i};
        pthread_barrier_wait(&start);
        uint64_t key = 0;
        for (size_t i = 0; i < part->passes * count / depth; i++)
                key = descend(nodes, next_random(&part->random) ^ (key & 1), depth - 1);
        part->result = key;
}

/* A sparse matrix, 8 values to a row, times a vector of half of the memory. */
NOINLINE static double sparse(const double *values, const uint32_t *columns, size_t rows,
                              const double *vector)
{
        double all = 0;
        for (size_t row = 0; row < rows; row++) {
                double row_sum = 0;
                for (size_t j = row * 8; j < (row + 1) * 8; j++)
                        row_sum += values[j] * vector[columns[j]];
                all += row_sum;
        }
        return all;
}

static void run_sparse(struct part *part)
{
        const size_t vector = part->bytes / 2 / sizeof(double), rows = vector / 16;
        double *values = doubles_of(part) + vector;
        uint32_t *columns = (uint32_t *)(void *)(values + rows * 8);
        for (size_t i = 0; i < rows * 8; i++)
                columns[i] = (uint32_t)(next_random(&part->random) % vector);
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                part->result += (uint64_t)sparse(values, columns, rows, doubles_of(part));
}

/* A square matrix by columns; EXTRA: doubles in a row. */
NOINLINE static double columns(const double *from, size_t order)
{
        double all = 0;
        for (size_t x = 0; x < order; x++)
                for (size_t y = 0; y < order; y++) {
                        all += from[y * order + x];
                        __asm__ volatile("" : "+x"(all));
                }
        return all;
}

RUN_PASSES(columns, part->result += (uint64_t)columns(doubles_of(part), part->extra))

/* ---- lines that threads share; EXTRA: words from one thread's count to the next's ----
 */

static _Alignas(PAGE) volatile uint64_t counts[THREADS_MAX * 16];
static _Alignas(LINE) atomic_ulong shared_count;

NOINLINE static void count_beside(volatile uint64_t *own, size_t times)
{
        for (size_t i = 0; i < times; i++)
                ++*own;
}

RUN(count_beside, count_beside(&counts[part->number * part->extra], part->passes * 1000))

NOINLINE static void count_together(size_t times)
{
        for (size_t i = 0; i < times; i++)
                atomic_fetch_add_explicit(&shared_count, 1, memory_order_relaxed);
}

RUN(count_together, count_together(part->passes * 1000))

/* Thread 0 writes into a table that all others read. */
NOINLINE static uint64_t look(const volatile uint64_t *table, size_t times,
                              uint64_t state)
{
        uint64_t all = 0;
        for (size_t i = 0; i < times; i++)
                all += table[next_random(&state) % 512];
        return all;
}

NOINLINE static void change(volatile uint64_t *table, size_t times, uint64_t state)
{
        for (size_t i = 0; i < times; i++)
                table[next_random(&state) % 512] = i;
}

static void run_look(struct part *part)
{
        static _Alignas(PAGE) volatile uint64_t table[512];
        pthread_barrier_wait(&start);
        if (part->number == 0)
                change(table, part->passes * 1000, part->random);
        else
                part->result = look(table, part->passes * 1000, part->random);
}

/* ---- others ---- */

/* A number of 8 bytes that is stored as two halves, which no store can forward. */
NOINLINE static uint64_t halves(volatile uint32_t *half, size_t times)
{
        uint64_t all = 0;
        for (size_t i = 0; i < times; i++) {
                half[0] = (uint32_t)all;
                half[1] = (uint32_t)i;
                all += *(volatile uint64_t *)(volatile void *)half;
        }
        return all;
}

RUN(halves, part->result = halves((uint32_t *)(void *)part->memory, part->passes * 1000))

NOINLINE static void touch(char *memory, size_t bytes)
{
        for (size_t i = 0; i < bytes; i += LINE)
                memory[i] = 1;
}

static void run_touch(struct part *part)
{
        for (size_t pass = 0; pass < part->passes; pass++) {
                touch(part->memory, part->bytes);
                madvise(part->memory, part->bytes, MADV_DONTNEED);
        }
}

NOINLINE static uint64_t compute(size_t times, uint64_t state)
{
        for (size_t i = 0; i < times; i++)
                next_random(&state);
        return state;
}

RUN(compute, part->result = compute(part->passes * 1000, part->random))

/* Thread 0 follows a ring while the others store, until they are done. */
static void run_beside(struct part *part)
{
        static atomic_size_t done;
        if (part->number == 0) {
                const struct node *node = make_ring(part, LINE);
                pthread_barrier_wait(&start);
                while (atomic_load(&done) + 1 < thread_count)
                        node = chase(node, 1000, 0);
                part->result = (uintptr_t)node;
                return;
        }
        run_fill(part);
        atomic_fetch_add(&done, 1);
}

static const struct loop loops[] = {
    {"chase", run_chase, false},
    {"chase-small-pages", run_chase, true},
    {"pages", run_pages, true},
    {"chains", run_chains, false},
    {"sum", run_sum, false},
    {"remote", run_remote, false},
    {"remote-chase", run_remote_chase, false},
    {"records", run_records, false},
    {"bursts", run_bursts, false},
    {"fill", run_fill, false},
    {"fill-around", run_fill_around, false},
    {"copy", run_copy, false},
    {"triad", run_triad, false},
    {"stencil", run_stencil, false},
    {"hidden", run_hidden, false},
    {"gather", run_gather, false},
    {"gather-small-pages", run_gather, true},
    {"scatter", run_scatter, false},
    {"histogram", run_histogram, false},
    {"probe", run_probe, false},
    {"descend", run_descend, false},
    {"sparse", run_sparse, false},
    {"columns", run_columns, true},
    {"count-beside", run_count_beside, false},
    {"count-together", run_count_together, false},
    {"look", run_look, false},
    {"halves", run_halves, false},
    {"touch", run_touch, true},
    {"compute", run_compute, false},
    {"beside", run_beside, false},
    {NULL, NULL, false},
};

static const struct loop *loop;

static void *work(void *argument)
{
        struct part *part = argument;
        part->memory =
            mapped(part->bytes, loop->small_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
        if (loop->run != run_touch)
                memset(part->memory, 1, part->bytes);
        loop->run(part);
        return NULL;
}

static const struct loop *loop_named(const char *name, const struct loop *of)
{
        while (of->name && strcmp(of->name, name) != 0)
                of++;
        return of->name ? of : NULL;
}

int main(int argc, char **argv)
{
        pthread_t threads[THREADS_MAX];
        if (argc < 5)
                return 2;
        loop = loop_named(argv[1], loops);
        if (!loop)
                loop = loop_named(argv[1], shapes);
        thread_count = strtoul(argv[2], NULL, 10);
        if (!loop || thread_count == 0 || thread_count > THREADS_MAX)
                return 2;
        pthread_barrier_init(&start, NULL, (unsigned)thread_count);
        for (size_t i = 0; i < thread_count; i++) {
                parts[i] =
                    (struct part){.number = i,
                                  .bytes = strtoul(argv[3], NULL, 10) << 10,
                                  .passes = strtoul(argv[4], NULL, 10),
                                  .extra = argc > 5 ? strtoul(argv[5], NULL, 10) : 0,
                                  .random = 88172645463325252u + i * 7919};
                if (pthread_create(&threads[i], NULL, work, &parts[i]))
                        return 1;
        }
        uint64_t all = 0;
        for (size_t i = 0; i < thread_count; i++) {
                pthread_join(threads[i], NULL);
                all += parts[i].result;
        }
        printf("%llu\n", (unsigned long long)all);
        return 0;
}
