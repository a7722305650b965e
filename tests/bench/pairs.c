/* SPDX-License-Identifier: MIT */
/* Pairs of a program before and after a change that programmers make against memory
 * latency: pairs NAME before|after [setup|PARTS], or pairs list. Prints a sum and the CPU
 * nanoseconds of the work. The work begins after the first touches of its memory; with
 * setup the program ends there. With PARTS it does only one of so many parts of the
 * repeated work, as simulations need. Run by tests/bench/pairs.py and gains.py. */
#include <emmintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

static int setup_only;
static uint32_t parts = 1;
static long long work_began; /* CPU nanoseconds of the process */

static long long cpu_ns(void)
{
        struct timespec now;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static uint32_t part_of(uint32_t times)
{
        return times < parts ? 1 : times / parts;
}

static void begin_work(void)
{
        if (setup_only)
                exit(0);
        work_began = cpu_ns();
}

static void *map(size_t bytes, int advice)
{
        /* Begins at a huge page. */
        char *memory = mmap(NULL, bytes + 2 * MIB, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                exit(1);
        memory += -(uintptr_t)memory % (2 * MIB);
        madvise(memory, bytes, advice);
        return memory;
}

static void *small_pages(size_t bytes)
{
        return map(bytes, MADV_NOHUGEPAGE);
}

/* Exactly COUNT elements of SIZE bytes, on small pages, as layout fixes need them. */
static void *elements(size_t count, size_t size)
{
        void *memory = aligned_alloc(64, count * size);
        if (!memory)
                exit(1);
        return memory;
}

/* A full-period congruence modulo a power of two, COUNT. */
static uint32_t next_of(uint32_t at, uint32_t count)
{
        return (at * 1664525u + 1013904223u) & (count - 1);
}

/* Scatters the order of the congruence, whose low bits repeat soon. */
static uint32_t scatter(uint32_t at, uint32_t count)
{
        uint32_t x = at * 2654435769u;
        return (x ^ x >> 15) & (count - 1);
}

/* ---- translation and pages ---- */

static uint64_t gather(const uint64_t *data, uint32_t count, int loads)
{
        uint64_t sum = 0;
        for (uint32_t i = 0, at = 1; i < part_of((uint32_t)loads); i++) {
                at = next_of(at, 1u << 31);
                sum += data[scatter(at, count)];
        }
        return sum;
}

static uint64_t huge_pages(int after)
{
        enum { COUNT = 1 << 23 };
        uint64_t *data =
            map(COUNT * sizeof(*data), after ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        for (uint32_t i = 0; i < COUNT; i++)
                data[i] = i;
        begin_work();
        return gather(data, COUNT, 12000000);
}

/* 16 MiB fit into L3, their page tables do not fit into the TLB. */
static uint64_t huge_pages_chain(int after)
{
        enum { COUNT = 1 << 18, STEPS = 4000000 };
        struct line {
                uint32_t next, other[15];
        } *lines = map(COUNT * sizeof(*lines), after ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        uint32_t at = 0;
        for (uint32_t i = 0; i < COUNT; i++)
                lines[i].next = next_of(i, COUNT);
        begin_work();
        for (uint32_t i = 0; i < part_of(STEPS); i++)
                at = lines[at].next;
        return at;
}

static uint64_t reuse_memory(int after)
{
        enum { BYTES = 1 << 20, TIMES = 400 };
        uint64_t sum = 0;
        char *kept = small_pages(BYTES);
        begin_work();
        for (uint32_t i = 0; i < part_of(TIMES); i++) {
                char *buffer = after ? kept : small_pages(BYTES);
                for (size_t at = 0; at < BYTES; at += 64)
                        buffer[at] = (char)i;
                sum += (unsigned char)buffer[BYTES / 2];
                if (!after)
                        munmap(buffer, BYTES);
        }
        return sum;
}

/* 2048 records of 4160 bytes with one hot byte, or these records' hot lines in a row. */
static uint64_t packed_records(int after)
{
        enum { RECORDS = 2048, ROUNDS = 6000 };
        struct hot {
                char value, other[63];
        } *packed = elements(RECORDS, sizeof(*packed));
        struct spread {
                struct hot hot;
                char cold[4096];
        } *spread = elements(RECORDS, sizeof(*spread));
        uint64_t sum = 0;
        for (size_t i = 0; i < RECORDS; i++)
                if (after)
                        packed[i].value = 0;
                else
                        spread[i].hot.value = 0;
        begin_work();
        for (uint32_t round = 0; round < part_of(ROUNDS); round++)
                for (size_t i = 0; i < RECORDS; i++)
                        sum += (uint64_t)(after ? ++packed[i].value
                                                : ++spread[i].hot.value) &
                               1;
        return sum;
}

/* ---- order of accesses ---- */

enum { SIDE = 2048 };

static uint64_t loop_order(int after)
{
        uint64_t *matrix = small_pages((size_t)SIDE * SIDE * sizeof(*matrix)), sum = 0;
        for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
                matrix[i] = i;
        begin_work();
        for (uint32_t pass = 0; pass < part_of(3); pass++)
                for (size_t i = 0; i < SIDE; i++)
                        for (size_t j = 0; j < SIDE; j++)
                                sum +=
                                    after ? matrix[i * SIDE + j] : matrix[j * SIDE + i];
        return sum;
}

static uint64_t multiply_order(int after)
{
        enum { N = 400 };
        static double a[N][N], b[N][N], c[N][N];
        for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                        a[i][j] = b[j][i] = i ^ j;
        begin_work();
        const int rows = (int)part_of(N);
        if (after) {
                for (int i = 0; i < rows; i++)
                        for (int k = 0; k < N; k++)
                                for (int j = 0; j < N; j++)
                                        c[i][j] += a[i][k] * b[k][j];
        } else {
                for (int i = 0; i < rows; i++)
                        for (int j = 0; j < N; j++)
                                for (int k = 0; k < N; k++)
                                        c[i][j] += a[i][k] * b[k][j];
        }
        return (uint64_t)c[N / 2][N / 3];
}

static uint64_t blocking(int after)
{
        size_t block = after ? 16 : SIDE;
        uint64_t *from = small_pages((size_t)SIDE * SIDE * sizeof(*from));
        uint64_t *to = small_pages((size_t)SIDE * SIDE * sizeof(*to));
        for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
                from[i] = to[i] = i;
        begin_work();
        for (uint32_t pass = 0; pass < part_of(3); pass++)
                for (size_t i = 0; i < SIDE; i += block)
                        for (size_t j = 0; j < SIDE; j += block)
                                for (size_t y = i; y < i + block; y++)
                                        for (size_t x = j; x < j + block; x++)
                                                to[x * SIDE + y] = from[y * SIDE + x];
        return to[SIDE + 1];
}

static uint64_t padding(int after)
{
        enum { ROWS = 512, PASSES = 30000 };
        size_t stride = 4096 + (after ? 64 : 0);
        char *data = map(ROWS * (size_t)8192, MADV_HUGEPAGE);
        uint64_t sum = 0;
        memset(data, 1, ROWS * stride);
        begin_work();
        for (uint32_t pass = 0; pass < part_of(PASSES); pass++)
                for (size_t i = 0; i < ROWS; i++)
                        sum += (uint64_t)data[i * stride];
        return sum;
}

static uint64_t sorted_indices(int after)
{
        enum { COUNT = 1 << 22 };
        uint64_t *data = small_pages(COUNT * sizeof(*data)), sum = 0;
        uint32_t *index = small_pages(COUNT * sizeof(*index));
        for (uint32_t i = 0, at = 1; i < COUNT; i++) {
                data[i] = i;
                at = next_of(at, COUNT);
                index[i] = after ? i : at;
        }
        begin_work();
        for (uint32_t pass = 0; pass < part_of(3); pass++)
                for (uint32_t i = 0; i < COUNT; i++)
                        sum += data[index[i]];
        return sum;
}

/* ---- layout ---- */

enum { RECORDS = 1 << 20 };

static uint64_t columns_layout(int after)
{
        struct record {
                uint64_t value, other[7];
        } *records = small_pages(RECORDS * sizeof(*records));
        uint64_t *values = small_pages(RECORDS * sizeof(*values)), sum = 0;
        for (size_t i = 0; i < RECORDS; i++)
                if (after)
                        values[i] = i;
                else
                        records[i].value = i;
        begin_work();
        for (uint32_t pass = 0; pass < part_of(10); pass++)
                for (size_t i = 0; i < RECORDS; i++)
                        sum += after ? values[i] : records[i].value;
        return sum;
}

/* Random records of 128 bytes with 8 hot bytes, or these 8 bytes by themselves. */
static uint64_t hot_cold(int after)
{
        struct mixed {
                uint64_t hot, cold[15];
        } *records = small_pages(RECORDS * sizeof(*records));
        uint64_t *values = small_pages(RECORDS * sizeof(*values)), sum = 0;
        for (size_t i = 0; i < RECORDS; i++)
                if (after)
                        values[i] = i;
                else
                        records[i].hot = i;
        begin_work();
        for (uint32_t i = 0, at = 1; i < part_of(15000000); i++) {
                at = next_of(at, 1u << 31);
                uint32_t index = scatter(at, RECORDS);
                sum += after ? values[index] : records[index].hot;
        }
        return sum;
}

/* Two fields of random records: on two lines each, or side by side on one. */
static uint64_t fields_together(int after)
{
        enum { COUNT = 1 << 18 };
        struct apart {
                uint64_t first, cold[14], last;
        } *apart = small_pages(COUNT * sizeof(*apart));
        struct together {
                uint64_t first, last, cold[14];
        } *together = small_pages(COUNT * sizeof(*together));
        uint64_t sum = 0;
        for (uint32_t i = 0; i < COUNT; i++)
                if (after)
                        together[i].first = together[i].last = i;
                else
                        apart[i].first = apart[i].last = i;
        begin_work();
        for (uint32_t i = 0, at = 1; i < part_of(8000000); i++) {
                at = next_of(at, 1u << 31);
                uint32_t index = scatter(at, COUNT);
                sum += after ? together[index].first + together[index].last
                             : apart[index].first + apart[index].last;
        }
        return sum;
}

/* Random records of 48 bytes: every second one crosses a line border, or none does. */
static uint64_t aligned_records(int after)
{
        enum { COUNT = 1 << 19 };
        struct crossing {
                uint64_t words[6];
        } *crossing = elements(COUNT, sizeof(*crossing));
        struct aligned {
                _Alignas(64) uint64_t words[6];
        } *aligned = elements(COUNT, sizeof(*aligned));
        uint64_t sum = 0;
        for (uint32_t i = 0; i < COUNT; i++)
                for (int word = 0; word < 6; word++)
                        if (after)
                                aligned[i].words[word] = i;
                        else
                                crossing[i].words[word] = i;
        begin_work();
        for (uint32_t i = 0, at = 1; i < part_of(8000000); i++) {
                at = next_of(at, 1u << 31);
                uint32_t index = scatter(at, COUNT);
                sum += after ? aligned[index].words[0] + aligned[index].words[5]
                             : crossing[index].words[0] + crossing[index].words[5];
        }
        return sum;
}

static uint64_t smaller_type(int after)
{
        enum { COUNT = 1 << 24 };
        uint64_t *wide = small_pages(COUNT * sizeof(*wide)), sum = 0;
        uint32_t *narrow = (uint32_t *)wide;
        for (uint32_t i = 0; i < COUNT; i++) {
                if (after)
                        narrow[i] = i;
                else
                        wide[i] = i;
        }
        begin_work();
        for (uint32_t i = 0, at = 1; i < part_of(10000000); i++) {
                at = next_of(at, 1u << 31);
                uint32_t index = scatter(at, COUNT);
                sum += after ? narrow[index] : wide[index];
        }
        return sum;
}

static uint64_t bits_for_bytes(int after)
{
        enum { COUNT = 1 << 26 };
        unsigned char *set = small_pages(COUNT);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < COUNT; i += 64)
                set[after ? i >> 3 : i] = 1;
        begin_work();
        for (uint32_t i = 0, at = 1; i < part_of(15000000); i++) {
                at = next_of(at, 1u << 31);
                uint32_t index = scatter(at, COUNT);
                sum += after ? set[index >> 3] >> (index & 7) & 1 : set[index];
        }
        return sum;
}

/* ---- chains ---- */

struct node {
        struct node *next;
        uint64_t value;
        char other[48];
};

static struct node *list(uint32_t count, int in_order)
{
        struct node *nodes = small_pages(count * sizeof(*nodes));
        for (uint32_t i = 0; i < count; i++) {
                nodes[i].value = i;
                nodes[i].next =
                    &nodes[in_order ? (i + 1) & (count - 1) : next_of(i, count)];
        }
        return nodes;
}

static uint64_t walk(const struct node *node, uint32_t steps)
{
        uint64_t sum = 0;
        begin_work();
        for (uint32_t i = 0; i < part_of(steps); i++) {
                sum += node->value;
                node = node->next;
        }
        return sum;
}

static uint64_t list_in_order(int after)
{
        enum { NODES = 1 << 20 };
        return walk(list(NODES, after), NODES);
}

static uint64_t list_in_cache(int after)
{
        /* Half of L2, or four times L2. */
        return walk(list(after ? 1 << 12 : 1 << 15, 0), 4000000) & 1;
}

static uint64_t four_chains(int after)
{
        enum { NODES = 1 << 20, STEPS = 1 << 20 };
        const struct node *nodes = list(NODES, 0), *at[4];
        uint64_t sum = 0;
        if (!after)
                return walk(nodes, STEPS) & 1;
        begin_work();
        for (int k = 0; k < 4; k++)
                at[k] = &nodes[k * NODES / 4 + 13 * k];
        for (uint32_t i = 0; i < part_of(STEPS / 4); i++)
                for (int k = 0; k < 4; k++) {
                        sum += at[k]->value;
                        at[k] = at[k]->next;
                }
        return sum & 1;
}

/* A table of pointers to records, and the same with a prefetch 8 lookups ahead. */
static uint64_t software_prefetch(int after)
{
        enum { COUNT = 1 << 19, LOOKUPS = 1000000, AHEAD = 8 };
        struct node *nodes = small_pages(COUNT * sizeof(*nodes));
        struct node **table = small_pages(COUNT * sizeof(*table));
        static volatile uint64_t zero;
        uint32_t keys[AHEAD], at = 1;
        const uint64_t none = zero; /* as the compiler does not know */
        uint64_t sum = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
                nodes[i].value = i;
                table[scatter(i, COUNT)] = &nodes[next_of(i, COUNT)];
                if (!table[i])
                        table[i] = &nodes[i];
        }
        memset(keys, 0, sizeof(keys));
        begin_work();
        for (uint32_t i = 0; i < part_of(LOOKUPS); i++) {
                uint32_t key = keys[i % AHEAD];
                at = next_of(at, 1u << 31);
                keys[i % AHEAD] = scatter(at, COUNT);
                if (after)
                        __builtin_prefetch(table[keys[i % AHEAD]]);
                /* The next lookup waits for this one, as code that depends on it does. */
                sum += table[(key + (sum & none)) & (COUNT - 1)]->value;
        }
        return sum;
}

/* A gather by an index array with 40 dependent multiplications for each element, and the
 * same with a prefetch 16 elements ahead. */
static uint64_t indexed_prefetch(int after)
{
        enum { COUNT = 1 << 22, AHEAD = 16 };
        uint64_t *data = small_pages(COUNT * sizeof(*data)), sum = 0;
        uint32_t *index = small_pages((COUNT + AHEAD) * sizeof(*index));
        for (uint32_t i = 0; i < COUNT; i++) {
                data[i] = i;
                index[i] = scatter(next_of(i, COUNT), COUNT);
        }
        begin_work();
        for (uint32_t i = 0; i < part_of(COUNT); i++) {
                if (after)
                        __builtin_prefetch(&data[index[i + AHEAD]]);
                sum ^= data[index[i]];
                for (int k = 0; k < 40; k++)
                        sum *= 6364136223846793005u;
        }
        return sum;
}

/* A list whose nodes also point 8 nodes ahead; the work at a node takes 100 cycles. */
static uint64_t jump_pointers(int after)
{
        enum { COUNT = 1 << 20, AHEAD = 8 };
        struct jumping {
                struct jumping *next, *ahead;
                uint64_t value, other[5];
        } *nodes = small_pages(COUNT * sizeof(*nodes));
        uint64_t sum = 0;
        for (uint32_t i = 0, ahead = 0; i < COUNT; i++) {
                ahead = i;
                for (int k = 0; k < AHEAD; k++)
                        ahead = next_of(ahead, COUNT);
                nodes[i] = (struct jumping){.next = &nodes[next_of(i, COUNT)],
                                            .ahead = &nodes[ahead],
                                            .value = i};
        }
        begin_work();
        const struct jumping *node = nodes;
        for (uint32_t i = 0; i < part_of(COUNT); i++, node = node->next) {
                if (after)
                        __builtin_prefetch(node->ahead);
                sum ^= node->value;
                for (int k = 0; k < 33; k++)
                        sum *= 6364136223846793005u;
        }
        return sum;
}

/* ---- stores and sharing ---- */

static uint64_t nontemporal(int after)
{
        enum { BYTES = 32 << 20 };
        char *data = small_pages(BYTES);
        memset(data, 1, BYTES);
        begin_work();
        for (uint32_t pass = 0; pass < part_of(12); pass++) {
                __m128i value = _mm_set1_epi8((char)pass);
                for (size_t i = 0; i < BYTES; i += 16) {
                        __m128i *to = (__m128i *)(void *)(data + i);
                        if (after)
                                _mm_stream_si128(to, value);
                        else
                                _mm_store_si128(to, value);
                }
                _mm_sfence();
        }
        return (unsigned char)data[BYTES / 2];
}

static uint64_t store_forwarding(int after)
{
        volatile union {
                uint64_t whole;
                uint32_t half[2];
        } word = {0};
        uint64_t sum = 0;
        begin_work();
        for (uint32_t i = 0; i < part_of(12000000); i++) {
                if (after) {
                        word.whole = (uint64_t)i << 32 | (uint32_t)sum;
                } else {
                        word.half[0] = (uint32_t)sum;
                        word.half[1] = i;
                }
                sum = word.whole >> 3;
        }
        return sum;
}

struct counting {
        volatile uint64_t *counter;
        uint32_t times;
};

static void *count(void *context)
{
        struct counting *counting = context;
        for (uint32_t i = 0; i < counting->times; i++)
                ++*counting->counter;
        return NULL;
}

static uint64_t false_sharing(int after)
{
        static _Alignas(128) volatile uint64_t counters[32];
        pthread_t threads[2];
        struct counting counting[2];
        begin_work();
        for (int i = 0; i < 2; i++) {
                counting[i] = (struct counting){&counters[i * (after ? 16 : 1)],
                                                part_of(100000000)};
                if (pthread_create(&threads[i], NULL, count, &counting[i]))
                        exit(1);
        }
        for (int i = 0; i < 2; i++)
                pthread_join(threads[i], NULL);
        return counters[0];
}

/* ---- the whole ---- */

static const struct {
        const char *name, *change;
        uint64_t (*run)(int after);
} pairs[] = {
    {"huge-pages", "huge pages for a random gather of 64 MiB", huge_pages},
    {"huge-pages-chain", "huge pages for a chain in 16 MiB", huge_pages_chain},
    {"reuse-memory", "one buffer in place of a new mapping each time", reuse_memory},
    {"packed-records", "2048 hot lines on 32 pages, not on 2048", packed_records},
    {"loop-order", "a matrix by rows, not by columns", loop_order},
    {"multiply-order", "a product of matrices in order ikj, not ijk", multiply_order},
    {"blocking", "a transposition in blocks of 16", blocking},
    {"padding", "rows 4160 bytes apart, not 4096", padding},
    {"sorted-indices", "a gather by ascending indices", sorted_indices},
    {"columns-layout", "a field of its own array, not of records", columns_layout},
    {"hot-cold", "8 hot bytes apart from records of 128 bytes", hot_cold},
    {"fields-together", "two hot fields side by side, not on two lines", fields_together},
    {"aligned-records", "records of 48 bytes on a line each", aligned_records},
    {"smaller-type", "4 bytes an element, not 8", smaller_type},
    {"bits-for-bytes", "a set of bits, not of bytes", bits_for_bytes},
    {"list-in-order", "a list in the order of addresses", list_in_order},
    {"list-in-cache", "a list of 256 KiB, not 2 MiB", list_in_cache},
    {"four-chains", "four lists at a time", four_chains},
    {"software-prefetch", "a prefetch 8 lookups ahead", software_prefetch},
    {"indexed-prefetch", "a prefetch 16 elements ahead", indexed_prefetch},
    {"jump-pointers", "a prefetch 8 nodes ahead", jump_pointers},
    {"nontemporal", "non-temporal stores to 32 MiB", nontemporal},
    {"store-forwarding", "one store of 8 bytes, not two of 4", store_forwarding},
    {"false-sharing", "counters of two threads on lines of their own", false_sharing},
};

int main(int argc, char **argv)
{
        const size_t count = sizeof(pairs) / sizeof(pairs[0]);
        if (argc == 2 && strcmp(argv[1], "list") == 0) {
                for (size_t i = 0; i < count; i++)
                        printf("%s\t%s\n", pairs[i].name, pairs[i].change);
                return 0;
        }
        if (argc < 3)
                return fprintf(stderr, "usage: pairs list | pairs NAME before|after"
                                       " [setup|PARTS]\n"),
                       2;
        setup_only = argc > 3 && strcmp(argv[3], "setup") == 0;
        if (argc > 3 && !setup_only && (parts = (uint32_t)atoi(argv[3])) == 0)
                return fprintf(stderr, "pairs: %s is no number of parts\n", argv[3]), 2;
        for (size_t i = 0; i < count; i++)
                if (strcmp(argv[1], pairs[i].name) == 0) {
                        uint64_t sum = pairs[i].run(strcmp(argv[2], "after") == 0);
                        printf("%llu %lld\n", (unsigned long long)sum,
                               cpu_ns() - work_began);
                }
        return 0;
}
