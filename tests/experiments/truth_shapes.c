/* SPDX-License-Identifier: MIT */
/* Loops in the shapes that ordinary programs have. Their arguments are those of truth.c.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "truth_loops.h"

/* ---- a join of two tables through a hash table with chains ---- */

struct row {
        uint64_t key, value;
        struct row *next; /* of the same bucket */
        uint64_t rest[5];
};

NOINLINE static uint64_t join(struct row *const *buckets, size_t mask, size_t count,
                              uint64_t state)
{
        uint64_t all = 0;
        for (size_t i = 0; i < count; i++) {
                uint64_t key = next_random(&state) >> 20 & mask;
                for (const struct row *row = buckets[key]; row; row = row->next)
                        all += row->value;
        }
        return all;
}

/* Half of the memory is rows, two of them in each bucket. */
static void run_join(struct part *part)
{
        const size_t buckets = part->bytes / 4 / sizeof(struct row);
        struct row **heads = (struct row **)(void *)part->memory;
        struct row *rows = (struct row *)(void *)(part->memory + part->bytes / 2);
        memset(heads, 0, buckets * sizeof(*heads));
        for (size_t i = 0; i < 2 * buckets; i++) {
                struct row **head = &heads[i * 2654435761u % buckets];
                rows[i] = (struct row){.key = i, .value = i, .next = *head};
                *head = &rows[i];
        }
        pthread_barrier_wait(&start);
        part->result = join(heads, buckets - 1, part->passes * buckets, part->random);
}

/* ---- a sorted table, searched by halves ---- */

NOINLINE static size_t search(const uint64_t *keys, size_t count, uint64_t key)
{
        size_t first = 0;
        while (count > 1) {
                size_t half = count / 2;
                first += keys[first + half] <= key ? half : 0;
                count -= half;
        }
        return first;
}

static void run_search(struct part *part)
{
        uint64_t *keys = words_of(part);
        const size_t count = part->bytes / sizeof(*keys);
        for (size_t i = 0; i < count; i++)
                keys[i] = i;
        pthread_barrier_wait(&start);
        size_t found = 0;
        for (size_t i = 0; i < part->passes * 1000; i++)
                found = search(keys, count,
                               (next_random(&part->random) ^ (found & 1)) % count);
        part->result = found;
}

/* ---- a list in the order of its memory ---- */

struct item {
        struct item *next;
        uint64_t value, rest[14];
};

NOINLINE static uint64_t list(const struct item *item)
{
        uint64_t all = 0;
        for (; item; item = item->next)
                all += item->value;
        return all;
}

static void run_list(struct part *part)
{
        struct item *items = (struct item *)(void *)part->memory;
        const size_t count = part->bytes / sizeof(*items);
        for (size_t i = 0; i < count; i++)
                items[i].next = i + 1 < count ? &items[i + 1] : NULL;
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                part->result += list(items);
}

/* ---- a graph, eight neighbours to a node, of whom each has a value ---- */

NOINLINE static uint64_t graph(const uint32_t *neighbours, size_t count,
                               const uint64_t *values)
{
        uint64_t all = 0;
        for (size_t i = 0; i < count; i++)
                all += values[neighbours[i]];
        return all;
}

static void run_graph(struct part *part)
{
        uint64_t *values = words_of(part);
        const size_t nodes = part->bytes / 2 / sizeof(*values);
        uint32_t *neighbours = (uint32_t *)(void *)(values + nodes);
        for (size_t i = 0; i < nodes; i++)
                neighbours[i] = (uint32_t)(next_random(&part->random) % nodes);
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                part->result += graph(neighbours, nodes, values);
}

/* ---- sorting: rows to EXTRA parts by their keys; two sorted halves into one ---- */

NOINLINE static void partition(uint64_t *const *ends, size_t parts, const uint64_t *keys,
                               size_t count)
{
        uint64_t *at[4096];
        memcpy(at, ends, parts * sizeof(*at));
        for (size_t i = 0; i < count; i++)
                *at[keys[i] & (parts - 1)]++ = keys[i];
}

static void run_partition(struct part *part)
{
        uint64_t *keys = words_of(part);
        const size_t count = part->bytes / 3 / sizeof(*keys);
        const size_t parts = part->extra, room = 2 * count / parts;
        uint64_t *ends[4096];
        for (size_t i = 0; i < count; i++)
                keys[i] = i * 2654435761u >> 8;
        for (size_t i = 0; i < parts; i++)
                ends[i] = keys + count + i * room;
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                partition(ends, parts, keys, count);
}

NOINLINE static void merge(uint64_t *to, const uint64_t *a, const uint64_t *b,
                           size_t count)
{
        const uint64_t *a_end = a + count, *b_end = b + count;
        while (a < a_end && b < b_end) {
                const uint64_t one = *a, other = *b;
                *to++ = one < other ? one : other;
                a += one < other;
                b += one >= other;
        }
}

static void run_merge(struct part *part)
{
        uint64_t *keys = words_of(part);
        const size_t count = part->bytes / 4 / sizeof(*keys);
        for (size_t i = 0; i < 2 * count; i++)
                keys[i] = i % count * 16 + (next_random(&part->random) & 15);
        pthread_barrier_wait(&start);
        for (size_t pass = 0; pass < part->passes; pass++)
                merge(keys + 2 * count, keys, keys + count, count);
}

/* ---- matrices; EXTRA: their order ---- */

NOINLINE static void product(double *to, const double *a, const double *b, size_t order)
{
        for (size_t i = 0; i < order; i++)
                for (size_t j = 0; j < order; j++) {
                        double all = 0;
                        for (size_t k = 0; k < order; k++)
                                all += a[i * order + k] * b[k * order + j];
                        to[i * order + j] = all;
                }
}

static void run_product(struct part *part)
{
        double *a = doubles_of(part);
        const size_t order = part->extra;
        pthread_barrier_wait(&start);
        product(a, a + order * order, a + 2 * order * order, order);
}

NOINLINE static void transpose(uint32_t *matrix, size_t order)
{
        for (size_t y = 0; y < order; y++)
                for (size_t x = 0; x < y; x++) {
                        uint32_t along = matrix[y * order + x];
                        matrix[y * order + x] = matrix[x * order + y];
                        matrix[x * order + y] = along;
                }
}

RUN_PASSES(transpose, transpose((uint32_t *)(void *)part->memory, part->extra))

/* ---- the string instructions of memset and memcpy ---- */

NOINLINE static void clear(char *to, size_t bytes)
{
        __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0) : "memory");
}

RUN_PASSES(clear, clear(part->memory, part->bytes))

NOINLINE static void move(char *to, const char *from, size_t bytes)
{
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}

RUN_PASSES(move, move(part->memory, part->memory + part->bytes / 2, part->bytes / 2))

/* ---- threads ---- */

/* A ring of slots from each thread with an even number to the next thread. */
struct queue {
        _Alignas(LINE) atomic_size_t filled;
        _Alignas(LINE) atomic_size_t emptied;
        _Alignas(LINE) uint64_t slots[1024];
};

NOINLINE static void put(struct queue *queue, size_t count)
{
        const size_t slots = sizeof(queue->slots) / sizeof(queue->slots[0]);
        for (size_t i = 0; i < count; i++) {
                while (i - atomic_load_explicit(&queue->emptied, memory_order_acquire) >=
                       slots)
                        __builtin_ia32_pause();
                queue->slots[i % slots] = i;
                atomic_store_explicit(&queue->filled, i + 1, memory_order_release);
        }
}

NOINLINE static uint64_t get(struct queue *queue, size_t count)
{
        const size_t slots = sizeof(queue->slots) / sizeof(queue->slots[0]);
        uint64_t all = 0;
        for (size_t i = 0; i < count; i++) {
                while (atomic_load_explicit(&queue->filled, memory_order_acquire) <= i)
                        __builtin_ia32_pause();
                all += queue->slots[i % slots];
                atomic_store_explicit(&queue->emptied, i + 1, memory_order_release);
        }
        return all;
}

static void run_queue(struct part *part)
{
        static struct queue queues[THREADS_MAX / 2];
        struct queue *queue = &queues[part->number / 2];
        pthread_barrier_wait(&start);
        if (part->number % 2 == 0)
                put(queue, part->passes * 1000);
        else
                part->result = get(queue, part->passes * 1000);
}

/* All threads count in one table of EXTRA words, any word. */
NOINLINE static void tally(volatile uint64_t *table, size_t mask, size_t times,
                           uint64_t state)
{
        for (size_t i = 0; i < times; i++)
                table[next_random(&state) & mask]++;
}

static void run_tally(struct part *part)
{
        static _Alignas(PAGE) volatile uint64_t table[PAGE];
        pthread_barrier_wait(&start);
        tally(table, part->extra - 1, part->passes * 1000, part->random);
}

/* Objects with a lock each that all threads take. */
struct locked {
        _Alignas(LINE) atomic_flag taken;
        uint64_t value;
};

NOINLINE static void change_locked(struct locked *objects, size_t count, size_t times,
                                   uint64_t state)
{
        for (size_t i = 0; i < times; i++) {
                struct locked *object = &objects[next_random(&state) % count];
                while (atomic_flag_test_and_set_explicit(&object->taken,
                                                         memory_order_acquire))
                        __builtin_ia32_pause();
                object->value += i;
                atomic_flag_clear_explicit(&object->taken, memory_order_release);
        }
}

static void run_locks(struct part *part)
{
        static struct locked objects[64];
        pthread_barrier_wait(&start);
        change_locked(objects, sizeof(objects) / sizeof(objects[0]), part->passes * 1000,
                      part->random);
}

const struct loop shapes[] = {
    {"join", run_join, false},           {"search", run_search, false},
    {"list", run_list, false},           {"graph", run_graph, false},
    {"partition", run_partition, false}, {"merge", run_merge, false},
    {"product", run_product, false},     {"transpose", run_transpose, false},
    {"clear", run_clear, false},         {"move", run_move, false},
    {"queue", run_queue, false},         {"tally", run_tally, false},
    {"locks", run_locks, false},         {NULL, NULL, false},
};
