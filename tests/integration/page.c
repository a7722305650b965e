/* SPDX-License-Identifier: MIT */
/* Two halves: one walks a shuffled list of large nodes, the other adds up an array. */
#include <stdio.h>
#include <stdlib.h>

#ifndef NODES
#define NODES 16000
#endif
enum { NUMBERS = 16000, ROUNDS = 8 };

struct node {
        struct node *next;
        long unused[9];
        long weight; /* on another line of the cache than next */
        long tail[5];
};

__attribute__((noinline)) static long walk(const struct node *node)
{
        long sum = 0;
        for (; node; node = node->next)
                sum += node->weight; /* mark: list */
        return sum;
}

__attribute__((noinline)) static long add_up(const long *numbers)
{
        long sum = 0;
        for (int i = 0; i < NUMBERS; i++)
                sum += numbers[i * 8]; /* mark: array */
        return sum;
}

int main(void)
{
        struct node *nodes = calloc(NODES, sizeof(*nodes));
        long *numbers = calloc(NUMBERS, 8 * sizeof(*numbers));
        long sum = 0;
        for (int i = 0; i < NODES; i++)
                nodes[i * 997L % NODES].next =
                    i + 1 < NODES ? &nodes[(i + 1) * 997L % NODES] : NULL;
        for (int i = 0; i < ROUNDS; i++)
                sum += walk(nodes); /* mark: call of walk */
        for (int i = 0; i < ROUNDS; i++)
                sum += add_up(numbers); /* mark: call of add_up */
        printf("%ld\n", sum);
        return 0;
}
