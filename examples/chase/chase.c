/* SPDX-License-Identifier: MIT */
/* Walks a ring of nodes that is larger than the last-level cache and was linked in
 * random order. One thread reads one line at a time: the memory is idle, and every step
 * still waits for it. Nodes are shuffled within short windows only: the TLB holds the
 * pages in use, and nothing but the memory causes the wait. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../arguments.h"

#define WINDOW_NODES 2048 /* 32 pages of 64-byte nodes */

struct node {
        struct node *next;
        uint64_t value;
        uint64_t other_fields[5]; /* with malloc's header a node takes one cache line */
};

static uint64_t next_random(uint64_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

static struct node *new_node(uint64_t value)
{
        struct node *node = malloc(sizeof(*node)); /* mark: slow-object */
        if (!node) {
                fprintf(stderr, "chase: not enough memory; try fewer nodes\n");
                exit(1);
        }
        node->value = value;
        return node;
}

static void shuffle(struct node **nodes, size_t count, uint64_t *state)
{
        for (size_t i = count; i > 1; i--) {
                size_t other = next_random(state) % i;
                struct node *node = nodes[i - 1];
                nodes[i - 1] = nodes[other];
                nodes[other] = node;
        }
}

/* A ring of COUNT nodes; WINDOW_NODES neighbours in memory are neighbours in the ring,
 * in random order. */
static struct node *new_ring(size_t count)
{
        struct node *window[WINDOW_NODES];
        struct node *first = NULL;
        struct node **link = &first;
        uint64_t state = 88172645463325252u;

        for (size_t made = 0; made < count;) {
                size_t n = count - made < WINDOW_NODES ? count - made : WINDOW_NODES;
                for (size_t i = 0; i < n; i++)
                        window[i] = new_node(made + i);
                shuffle(window, n, &state);
                for (size_t i = 0; i < n; i++) {
                        *link = window[i];
                        link = &window[i]->next;
                }
                made += n;
        }
        *link = first;
        return first;
}

static const struct node *walk(const struct node *node, size_t steps)
{
        for (size_t i = 0; i < steps; i++)
                node = node->next; /* mark: slow-line */
        return node;
}

static void free_ring(struct node *first)
{
        struct node *node = first;

        do {
                struct node *next = node->next; /* mark: free-line */
                free(node); /* mark: free-call */
                node = next;
        } while (node != first);
}

int main(int argc, char **argv)
{
        no_more_arguments(argc, argv, 2, "[NODES [STEPS]]");
        size_t count = size_argument(argc, argv, 1, "NODES", 1000000, 1, 1u << 30);
        size_t steps = size_argument(argc, argv, 2, "STEPS", 12000000, 1, 1u << 30);
        struct node *first = new_ring(count);

        printf("value %llu after %zu steps in a ring of %zu nodes\n",
               (unsigned long long)walk(first, steps)->value, steps, count);
        free_ring(first);
        return 0;
}
