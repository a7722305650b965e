/* SPDX-License-Identifier: MIT */
/* Two threads chase pointers, in a function that calls itself and below it. */
#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; long pad[30]; };
static struct node *nodes;
__attribute__((noinline)) static struct node *chase(struct node *at, long steps)
{
        while (steps--)
                at = at->next;
        return at;
}
__attribute__((noinline)) static struct node *descend(struct node *at, int depth)
{
        at = chase(at, 8000);
        return depth ? descend(at, depth - 1)->next : at;
}
static void *work(void *from)
{
        return chase(descend(from, 3), 20000);
}
int main(void)
{
        pthread_t other;
        size_t n = 20011;
        nodes = malloc(n * sizeof(*nodes));
        for (size_t i = 0; i < n; i++)
                nodes[i].next = &nodes[(i * 7919 + 13) % n];
        pthread_create(&other, NULL, work, nodes + 7);
        work(nodes);
        return pthread_join(other, NULL);
}
