/* SPDX-License-Identifier: MIT */
/* Small programs with known behaviour for the tests of the simulated PMU:
 * simpmu_programs NAME [ARGUMENT...]. */
#include "target.h"

#include <immintrin.h>

#define LINE_BYTES  64
#define BUFFER_MIB  64
#define STEPS       200000
#define CHAINS      4
#define MAX_THREADS 64

struct node {
        struct node *next;
        char rest[LINE_BYTES - sizeof(struct node *)];
};

static volatile uint64_t sink;

static struct node *ring_of_nodes(size_t count)
{
        struct node *nodes = mmap(NULL, count * sizeof(*nodes), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        /* The list visits all nodes: their number is a power of two, and the step is
         * odd. */
        for (size_t i = 0; i < count; i++)
                nodes[i * 2654435761u % count].next =
                    &nodes[(i + 1) * 2654435761u % count];
        return nodes;
}

static int chase(int chains)
{
        const size_t count = (size_t)BUFFER_MIB << 20 >> 6;
        struct node *nodes = ring_of_nodes(count);
        struct node *at[CHAINS];
        for (int c = 0; c < chains; c++)
                at[c] = &nodes[(size_t)c * (count / CHAINS) + (size_t)c];
        if (chains == 0)
                return 0; /* only the preparation */
        if (chains == 1) {
                struct node *node = at[0];
                for (int i = 0; i < STEPS; i++)
                        node = node->next;
                sink = (uint64_t)node;
        } else {
                struct node *a = at[0], *b = at[1], *c = at[2], *d = at[3];
                for (int i = 0; i < STEPS / CHAINS; i++) {
                        a = a->next;
                        b = b->next;
                        c = c->next;
                        d = d->next;
                }
                sink = (uint64_t)a ^ (uint64_t)b ^ (uint64_t)c ^ (uint64_t)d;
        }
        return 0;
}

static pthread_barrier_t barrier;

static void *stream(void *argument)
{
        const size_t words = (size_t)4 << 20 >> 3;
        uint64_t *buffer = malloc(words * sizeof(*buffer));
        uint64_t sum = 0;
        memset(buffer, 1, words * sizeof(*buffer));
        pthread_barrier_wait(&barrier);
        for (int pass = 0; pass < 3; pass++) {
                for (size_t i = 0; i < words; i += 8)
                        sum += buffer[i];
        }
        sink = sum;
        free(buffer);
        return argument;
}

static int threads(int count)
{
        pthread_t ids[MAX_THREADS];
        pthread_barrier_init(&barrier, NULL, (unsigned)count);
        for (int i = 0; i < count; i++)
                pthread_create(&ids[i], NULL, stream, NULL);
        for (int i = 0; i < count; i++)
                pthread_join(ids[i], NULL);
        return 0;
}

static volatile sig_atomic_t signals_seen;

static void on_signal(int number)
{
        signals_seen++;
}

static int signals(void)
{
        signal(SIGUSR1, on_signal);
        for (int i = 0; i < 1000; i++)
                raise(SIGUSR1);
        return signals_seen == 1000 ? 0 : 1;
}

__attribute__((target("avx2"))) static int avx2(void)
{
        static uint32_t words[1024] __attribute__((aligned(32)));
        __m256i sum = _mm256_setzero_si256();
        uint32_t lanes[8];

        for (int i = 0; i < 1024; i++)
                words[i] = (uint32_t)i;
        for (int i = 0; i < 1024; i += 8)
                sum = _mm256_add_epi32(sum, _mm256_load_si256((__m256i *)&words[i]));
        _mm256_storeu_si256((__m256i *)lanes, sum);
        for (int i = 1; i < 8; i++)
                lanes[0] += lanes[i];
        return lanes[0] == 1023 * 1024 / 2 ? 0 : 1;
}

/* RDTSCP, which the simulated CPUID offers: does its CPU exist, and does time go on? */
static int time_stamp(void)
{
        uint32_t eax = 0x80000001, ebx, ecx, edx, cpu;
        uint64_t first = __builtin_ia32_rdtscp(&cpu);
        __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx));
        if (!(edx >> 27 & 1) || __builtin_ia32_rdtscp(&cpu) <= first)
                return 1;
        return (cpu & 0xfff) < (uint32_t)sysconf(_SC_NPROCESSORS_CONF) ? 0 : 2;
}

int main(int argc, char **argv)
{
        const char *name = argc > 1 ? argv[1] : "";
        int number = argc > 2 ? atoi(argv[2]) : 0;
        if (strcmp(name, "chase") == 0)
                return chase(number);
        if (strcmp(name, "threads") == 0)
                return threads(number);
        if (strcmp(name, "signals") == 0)
                return signals();
        if (strcmp(name, "avx2") == 0)
                return avx2();
        if (strcmp(name, "time_stamp") == 0)
                return time_stamp();
        return number; /* exit NUMBER */
}
