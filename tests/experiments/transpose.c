/* SPDX-License-Identifier: MIT */
/* Transposes a matrix of a power of two column by column. Each load is on another page,
 * and in the last cache. The TLB holds fewer entries than there are pages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 1024 };

struct row {
        double numbers[2 * SIDE]; /* four pages */
};

static __attribute__((noinline)) void transpose(struct row *to, const struct row *from)
{
        for (size_t i = 0; i < SIDE; i++)
                for (size_t j = 0; j < 2 * SIDE; j++)
                        to[i].numbers[j] = from[j].numbers[i];
}

int main(void)
{
        struct row *from = aligned_alloc(4096, 2 * SIDE * sizeof(*from));
        struct row *to = aligned_alloc(4096, SIDE * sizeof(*to));
        if (!from || !to)
                return 1;
        memset(from, 1, 2 * SIDE * sizeof(*from));
        memset(to, 1, SIDE * sizeof(*to));
        transpose(to, from);
        printf("%d\n", to[1].numbers[1] > 0);
        free(from);
        free(to);
        return 0;
}
