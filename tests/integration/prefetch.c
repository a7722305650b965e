/* SPDX-License-Identifier: MIT */
/* Accesses whose addresses change by a known pattern. Each pattern has a function of its
 * name: prefetch [all|pages|list|gather [DISTANCE]]. With DISTANCE, gather() prefetches
 * that many iterations ahead. */
#include "target.h"

enum { COUNT = 1 << 20, VISITS = 100000, STRIDE = 4160 };

struct node {
        struct node *next;
        uint64_t values[7];
};

static struct node *nodes;
static uint32_t *order;

/* More instructions than a core looks ahead: misses do not overlap. */
static inline uint64_t mix(uint64_t x)
{
        for (int i = 0; i < 60; i++) {
                x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
                __asm__ volatile("" : "+r"(x));
        }
        return x;
}

NOINLINE static uint64_t gather(uint32_t ahead)
{
        uint64_t sum = 0;
        for (uint32_t i = 0; i < VISITS; i++) {
                if (ahead)
                        __builtin_prefetch(&nodes[order[i + ahead]]);
                sum = mix(sum ^ nodes[order[i]].values[0]);
        }
        return sum;
}

NOINLINE static uint64_t list(uint32_t visits)
{
        const struct node *node = nodes;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < visits; i++) {
                sum += node->values[0];
                node = node->next;
        }
        return sum;
}

NOINLINE static uint64_t stride(void)
{
        const char *at = (const char *)nodes;
        uint64_t sum = 0;
        for (int pass = 0; pass < 8; pass++)
                for (size_t i = 0; i < COUNT * sizeof(*nodes) / STRIDE; i++)
                        sum += (unsigned char)at[i * STRIDE];
        return sum;
}

NOINLINE static uint64_t computed(void)
{
        uint64_t sum = 0;
        for (uint32_t i = 0, at = 1; i < VISITS; i++) {
                at = at * 1664525u + 1013904223u;
                sum += nodes[at >> 12].values[0];
        }
        return sum;
}

/* A line of another page each time, which must come first; the lines fit into L2. */
NOINLINE static uint64_t pages(void)
{
        uint64_t at = 0;
        for (uint32_t i = 0; i < 10 * VISITS; i++)
                at = (at * 5 + 1 + nodes[at * 64 + at % 64].values[2]) % 4096;
        return at;
}

NOINLINE static uint64_t search(void)
{
        uint64_t sum = 0;
        for (uint32_t i = 0; i < VISITS / 8; i++) {
                uint64_t wanted = order[i], low = 0, high = COUNT;
                while (high - low > 1) {
                        uint64_t middle = (low + high) / 2;
                        if (nodes[middle].values[1] <= wanted)
                                low = middle;
                        else
                                high = middle;
                }
                sum += low;
        }
        return sum;
}

NOINLINE static void make_nodes(void)
{
        nodes = calloc(COUNT, sizeof(*nodes));
        if (!nodes)
                exit(1);
}

static void make_all(void)
{
        make_nodes();
        order = calloc(2 * COUNT, sizeof(*order));
        if (!order)
                exit(1);
        /* An odd number times each index: a permutation. */
        for (uint32_t i = 0; i < 2 * COUNT; i++)
                order[i] = i * 2654435769u % COUNT;
        for (uint32_t i = 0; i < COUNT; i++) {
                nodes[i].values[1] = i;
                nodes[order[i]].next = &nodes[order[i + 1]];
        }
}

int main(int argc, char **argv)
{
        const char *what = argc > 1 ? argv[1] : "all";
        const int all = strcmp(what, "all") == 0;
        uint64_t sum = 0;
        make_all();
        if (all || strcmp(what, "gather") == 0)
                sum += gather(argc > 2 ? (uint32_t)atoi(argv[2]) : 0);
        if (strcmp(what, "pages") == 0)
                sum += pages();
        if (strcmp(what, "list") == 0)
                sum += list(2 * COUNT);
        if (all)
                sum += list(VISITS) + computed() + stride() + search();
        printf("%d\n", sum == 1);
        return 0;
}
