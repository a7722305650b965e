/* SPDX-License-Identifier: MIT */
/* Small programs of a known cause, as one meets them: causes NAME runs the one of that
 * name. What each is short of is said above it; causes.py changes that in the model. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define MIB      ((size_t)1 << 20)

static uint64_t random_state = 88172645463325252u;

static inline uint64_t next_random(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

static void *memory_of(size_t bytes)
{
        void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
        if (!memory)
                exit(1);
        memset(memory, 0, bytes);
        return memory;
}

/* Out of the caches, as if other work lay between: until memory has taken all lines, at 8
 * cycles each. Else the first load behind waits for them, as long as thousands of others.
 */
static void flush(const void *memory, size_t bytes)
{
        for (size_t i = 0; i < bytes; i += 64)
                __builtin_ia32_clflush((const char *)memory + i);
        __builtin_ia32_mfence();
        for (size_t i = 0; i < bytes / 8; i++)
                __asm__ volatile("" : "+r"(i));
}

/* Two threads do WORK at a time, with the numbers 0 and 1. */
static void twice(void *(*work)(void *))
{
        pthread_t other;
        if (pthread_create(&other, NULL, work, (void *)1))
                exit(1);
        work(NULL);
        pthread_join(other, NULL);
}

/* ---- a hash join: heads of 4 MiB, nodes of 32 MiB on as many pages; the probes do not
 * depend on each other ---- */

struct row {
        struct row *next;
        uint64_t key, value, other;
};

enum { ROWS = 1 << 20, HEADS = 1 << 19, PROBES = 400000 };

static uint64_t head_of(uint64_t key)
{
        return key * 0x9e3779b97f4a7c15u >> 45;
}

NOINLINE uint64_t hash_join(struct row *const *heads, const uint64_t *keys)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < PROBES; i++) {
                const struct row *row = heads[head_of(keys[i])];
                while (row && row->key != keys[i])
                        row = row->next;
                if (row)
                        sum += row->value;
        }
        return sum;
}

static uint64_t make_hash_join(void)
{
        struct row **heads = memory_of(HEADS * sizeof(struct row *));
        struct row *rows = memory_of(ROWS * sizeof(*rows));
        uint64_t *keys = memory_of(PROBES * sizeof(*keys));
        for (uint64_t i = 0; i < ROWS; i++) {
                uint64_t key = i * 2654435761u + 1;
                rows[i] =
                    (struct row){.next = heads[head_of(key)], .key = key, .value = i};
                heads[head_of(key)] = &rows[i];
        }
        for (size_t i = 0; i < PROBES; i++)
                keys[i] = next_random(&random_state) % ROWS * 2654435761u + 1;
        flush(rows, ROWS * sizeof(*rows));
        flush(heads, HEADS * sizeof(struct row *));
        return hash_join(heads, keys);
}

/* ---- a walk down a B-tree of 16 MiB, each key known after the last walk: one miss of
 * memory after the other ---- */

enum { KEYS = 15, LEVELS = 5, WALKS = 100000 };

struct node {
        uint64_t keys[KEYS];
        uint32_t first_child; /* 0: a leaf */
        uint64_t other[16];
};

static const uint64_t key_end = (uint64_t)1 << 40;

NOINLINE uint64_t btree(const struct node *nodes, uint64_t key)
{
        const struct node *node = nodes;
        for (;;) {
                unsigned i = 0;
                while (i < KEYS && node->keys[i] <= key)
                        i++;
                if (!node->first_child)
                        return node->keys[i ? i - 1 : 0];
                node = &nodes[node->first_child + i];
        }
}

static uint64_t make_btree(void)
{
        size_t bytes = 69905 * sizeof(struct node), first = 0, width = 1;
        struct node *nodes = memory_of(bytes);
        for (int level = 0; level < LEVELS; level++, first += width, width *= KEYS + 1)
                for (size_t j = 0; j < width; j++) {
                        struct node *node = &nodes[first + j];
                        for (uint64_t k = 0; k < KEYS; k++)
                                node->keys[k] =
                                    key_end / width * j + key_end / width / 16 * (k + 1);
                        if (level < LEVELS - 1)
                                node->first_child = (uint32_t)(first + width + 16 * j);
                }
        flush(nodes, bytes);
        uint64_t sum = 0;
        for (int i = 0; i < WALKS; i++)
                sum += btree(nodes, (next_random(&random_state) ^ (sum & 1)) % key_end);
        return sum;
}

/* ---- a matrix turned around in blocks of a line's width: both of 8 MB, in L3 ---- */

enum { SIDE = 1000, BLOCK = 8 };

NOINLINE void transpose(double *restrict to, const double *restrict from)
{
        for (int i0 = 0; i0 < SIDE; i0 += BLOCK)
                for (int j0 = 0; j0 < SIDE; j0 += BLOCK)
                        for (int j = j0; j < j0 + BLOCK; j++)
                                for (int i = i0; i < i0 + BLOCK; i++)
                                        to[j * SIDE + i] = from[i * SIDE + j];
}

static uint64_t make_transpose(void)
{
        double *a = memory_of(SIDE * SIDE * sizeof(*a));
        double *b = memory_of(SIDE * SIDE * sizeof(*b));
        for (int i = 0; i < 6; i++) {
                transpose(b, a);
                transpose(a, b);
        }
        return (uint64_t)a[12345];
}

/* ---- items handed from one thread to the other ---- */

struct item {
        uint64_t words[4];
};

enum { SLOTS = 256, ITEMS = 60000 };
static struct {
        _Alignas(64) atomic_size_t made;
        _Alignas(64) atomic_size_t taken;
        _Alignas(64) struct item items[SLOTS];
} ring;
static uint64_t consumed;

NOINLINE void produce(void)
{
        for (size_t i = 0; i < ITEMS; i++) {
                while (i - atomic_load(&ring.taken) == SLOTS)
                        __builtin_ia32_pause();
                ring.items[i % SLOTS] = (struct item){{i, i + 1, i + 2, i + 3}};
                atomic_store_explicit(&ring.made, i + 1, memory_order_release);
        }
}

NOINLINE void consume(void)
{
        for (size_t i = 0; i < ITEMS; i++) {
                while (atomic_load(&ring.made) == i)
                        __builtin_ia32_pause();
                const struct item *item = &ring.items[i % SLOTS];
                consumed += item->words[0] + item->words[1] + item->words[2];
                atomic_store_explicit(&ring.taken, i + 1, memory_order_release);
        }
}

static void *ring_thread(void *number)
{
        number ? produce() : consume();
        return NULL;
}

/* ---- two threads count in random bins of one table of 2 KiB; then each has counts of
 * its own, but beside the other's ---- */

enum { COUNTS = 300000 };
static _Alignas(64) atomic_ulong bins[256];
static _Alignas(64) volatile uint64_t pairs[128][2];

NOINLINE void histogram(uint64_t seed)
{
        for (int i = 0; i < COUNTS; i++)
                atomic_fetch_add_explicit(&bins[next_random(&seed) >> 56], 1,
                                          memory_order_relaxed);
}

static void *histogram_thread(void *number)
{
        histogram(number ? 99991 : 12345);
        return NULL;
}

NOINLINE void neighbours(uint64_t seed, size_t thread)
{
        for (int i = 0; i < COUNTS; i++)
                pairs[next_random(&seed) >> 57][thread]++;
}

static void *neighbours_thread(void *number)
{
        neighbours(number ? 99991 : 12345, number != NULL);
        return NULL;
}

/* ---- strings, each kept once: the entries, of 30 MB, are beyond the caches ---- */

struct string {
        struct string *next;
        uint32_t hash, length;
        char text[48];
};

enum { STRINGS = 400000, CHAINS = 1 << 18, LONGEST = 16 };
static struct string *chains[CHAINS];

static uint32_t hash_of(const char *text, uint32_t length)
{
        uint32_t hash = 2166136261u;
        for (uint32_t i = 0; i < length; i++)
                hash = (hash ^ (unsigned char)text[i]) * 16777619u;
        return hash;
}

NOINLINE const struct string *interned(const char *text, uint32_t length)
{
        uint32_t hash = hash_of(text, length);
        const struct string *s = chains[hash % CHAINS];
        while (s && (s->hash != hash || s->length != length ||
                     memcmp(s->text, text, length) != 0))
                s = s->next;
        return s;
}

static uint64_t make_interned(void)
{
        char(*words)[LONGEST] = memory_of(STRINGS * sizeof(*words));
        struct string *strings = memory_of(STRINGS * sizeof(*strings));
        uint64_t sum = 0;
        for (uint32_t i = 0; i < STRINGS; i++) {
                struct string *s = &strings[i];
                s->length =
                    (uint32_t)snprintf(words[i], LONGEST, "name%x", i * 7919 % 1000003);
                s->hash = hash_of(words[i], s->length);
                memcpy(s->text, words[i], s->length);
                s->next = chains[s->hash % CHAINS];
                chains[s->hash % CHAINS] = s;
        }
        flush(strings, STRINGS * sizeof(*strings));
        flush(chains, sizeof(chains));
        for (uint32_t i = 0; i < STRINGS; i++) {
                const char *word = words[i * 7919u % STRINGS];
                sum += interned(word, (uint32_t)strlen(word))->hash;
        }
        return sum;
}

/* ---- a sparse matrix times a vector: of 64 MB, in memory, or of 4 MB, in L3; the
 * products do not depend on each other ---- */

enum { LINES = 100000, PER_LINE = 8 };

NOINLINE void sparse(double *y, const double *x, const double *values,
                     const uint32_t *columns)
{
        for (size_t line = 0; line < LINES; line++) {
                double sum = 0;
                for (size_t j = line * PER_LINE; j < (line + 1) * PER_LINE; j++)
                        sum += values[j] * x[columns[j]];
                y[line] = sum;
        }
}

static uint64_t make_sparse(size_t x_bytes, int times)
{
        double *x = memory_of(x_bytes), *y = memory_of(LINES * sizeof(*y));
        double *values = memory_of(LINES * PER_LINE * sizeof(*values));
        uint32_t *columns = memory_of(LINES * PER_LINE * sizeof(*columns));
        for (size_t i = 0; i < LINES * PER_LINE; i++)
                columns[i] =
                    (uint32_t)(next_random(&random_state) % (x_bytes / sizeof(*x)));
        if (times == 1)
                flush(x, x_bytes);
        while (times--)
                sparse(y, x, values, columns);
        return (uint64_t)y[7];
}

/* ---- a product of matrices whose inner loop goes down a column: 1.28 MB, beyond L2 ----
 */

enum { ORDER = 400, ROWS_MADE = 60 };

NOINLINE void product(double *c, const double *a, const double *b)
{
        for (int i = 0; i < ROWS_MADE; i++)
                for (int j = 0; j < ORDER; j++) {
                        double sum = 0;
                        for (int k = 0; k < ORDER; k++)
                                sum += a[i * ORDER + k] * b[k * ORDER + j];
                        c[i * ORDER + j] = sum;
                }
}

static uint64_t make_product(void)
{
        double *a = memory_of(ORDER * ORDER * sizeof(*a));
        double *b = memory_of(ORDER * ORDER * sizeof(*b));
        double *c = memory_of(ORDER * ORDER * sizeof(*c));
        product(c, a, b);
        return (uint64_t)c[7];
}

/* ---- four threads add vectors of 16 MiB, which memory has to deliver ---- */

enum { VECTOR = 1 << 20, ADDERS = 4 };

NOINLINE void add(double *y, const double *x)
{
        for (int i = 0; i < VECTOR; i++)
                y[i] += 0.5 * x[i];
}

static void *add_thread(void *vectors)
{
        double *y = vectors;
        for (int i = 0; i < 2; i++)
                add(y, y + VECTOR);
        return NULL;
}

static uint64_t make_add(void)
{
        pthread_t threads[ADDERS];
        for (int i = 0; i < ADDERS; i++)
                if (pthread_create(&threads[i], NULL, add_thread,
                                   memory_of(2 * VECTOR * sizeof(double))))
                        exit(1);
        for (int i = 0; i < ADDERS; i++)
                pthread_join(threads[i], NULL);
        return 0;
}

int main(int argc, char **argv)
{
        const char *name = argc > 1 ? argv[1] : "";
        uint64_t sum = 0;
        if (!strcmp(name, "hash_join"))
                sum = make_hash_join();
        else if (!strcmp(name, "btree"))
                sum = make_btree();
        else if (!strcmp(name, "transpose"))
                sum = make_transpose();
        else if (!strcmp(name, "ring"))
                twice(ring_thread);
        else if (!strcmp(name, "histogram"))
                twice(histogram_thread);
        else if (!strcmp(name, "neighbours"))
                twice(neighbours_thread);
        else if (!strcmp(name, "interned"))
                sum = make_interned();
        else if (!strcmp(name, "sparse"))
                sum = make_sparse(64 * MIB, 1);
        else if (!strcmp(name, "sparse-L3"))
                sum = make_sparse(4 * MIB, 3);
        else if (!strcmp(name, "product"))
                sum = make_product();
        else if (!strcmp(name, "add"))
                sum = make_add();
        else
                return 2;
        printf("%llu\n", (unsigned long long)(sum + consumed));
        return 0;
}
