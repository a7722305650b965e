#!/bin/sh
# SPDX-License-Identifier: MIT
# Allocators that programs bring themselves: their blocks are followed as those of the C
# library are.
set -eu

fail()
{
        echo "own_malloc.sh: $*" >&2
        exit 1
}

cat >blocks.c <<'END'
/* One array, 1000 blocks of which half are given another size, and others aligned; each
 * function's own. */
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long pad[7]; };
enum { NODES = 40009, BLOCKS = 1000 };
static char *blocks[BLOCKS];
__attribute__((noinline)) static struct node *make(void)
{
        struct node *all = calloc(NODES, sizeof(*all));
        for (size_t i = 0; i < NODES; i++)
                all[i].next = &all[(i * 7919 + 13) % NODES];
        return all;
}
__attribute__((noinline)) static void fill(void)
{
        for (int i = 0; i < BLOCKS; i++)
                blocks[i] = malloc(100 + i);
}
__attribute__((noinline)) static void grow(void)
{
        for (int i = 0; i < BLOCKS; i += 2)
                blocks[i] = realloc(blocks[i], 5000);
}
__attribute__((noinline)) static void align(void)
{
        void *block;
        for (int i = 0; i < BLOCKS; i++)
                if (posix_memalign(&block, 64, 300) == 0)
                        free(block);
}
__attribute__((noinline)) static long walk(struct node *node, long steps)
{
        long sum = 0;
        for (; steps; steps--, node = node->next)
                sum += node->pad[0];
        return sum;
}
int main(void)
{
        struct node *all = make();
        fill();
        grow();
        align();
        for (int i = 0; i < BLOCKS; i++)
                free(blocks[i]);
        printf("%ld\n", walk(all, 100000));
        free(all);
        return 0;
}
END

# check PROGRAM: what its functions allocated is as the source says, and most samples of the
# walk are in the array.
check()
{
        "$MEMLAG" record --period 499 -o "$1.db" -- "./$1" >out 2>err || fail "$1: $(cat err)"
        [ "$(cat out)" = 0 ] || fail "$1 printed: $(cat out)"
        made=$(sqlite3 "$1.db" "
                SELECT l.function, sum(t.allocations), sum(t.total_bytes)
                FROM allocation_total AS t JOIN stack_location USING (stack_id)
                JOIN location AS l USING (location_id)
                WHERE l.function IN ('make', 'fill', 'grow', 'align') GROUP BY 1" 2>&1)
        wanted="align|1000|300000
fill|1000|599500
grow|500|2500000
make|1|2560576"
        [ "$made" = "$wanted" ] || fail "$1: allocations: $made"
        samples=$(sqlite3 "$1.db" "SELECT sum(object LIKE 'make at blocks.c:%') * 100 / count(*)
                FROM sample_view WHERE function = 'walk'")
        [ "$samples" -ge 95 ] || fail "$1: $samples % of the walk's samples are in the array"
        [ "$(sqlite3 "$1.db" "SELECT count(*) FROM ledger
                WHERE kind = 'processes without heap objects'")" = 0 ] || fail "$1: the ledger"
}

"$CC" -g -O1 -o dynamic blocks.c
check dynamic
"$CC" -g -O1 -static -o static blocks.c
check static
if command -v musl-gcc >/dev/null; then
        musl-gcc -g -O1 -static -o static_musl blocks.c
        check static_musl
        musl-gcc -g -O1 -o dynamic_musl blocks.c
        check dynamic_musl
else
        echo "own_malloc.sh: SKIPPED: no musl-gcc here" >&2
fi
if "$CC" -g -O1 -o jemalloc blocks.c -Wl,-Bstatic -ljemalloc -Wl,-Bdynamic -lm -pthread 2>/dev/null; then
        check jemalloc
else
        echo "own_malloc.sh: SKIPPED: no jemalloc here" >&2
fi
