/* SPDX-License-Identifier: MIT */
/* A unit of split debug information with addresses and ranges, which programs link many
 * times. */
struct node {
        struct node *next;
        long key;
};

__attribute__((used)) static long sum(const struct node *at)
{
        long total = 0;
        for (; at; at = at->next)
                total += at->key;
        return total;
}

__attribute__((used, section(".text.twice"))) static long twice(const struct node *at)
{
        return 2 * sum(at);
}
