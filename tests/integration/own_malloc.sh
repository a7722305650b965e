#!/bin/sh
# SPDX-License-Identifier: MIT
# Allocators inside programs: their blocks are tracked like the C library's.
. "$SOURCE_DIR/tests/integration/library.sh"

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
        expect "output of $1" "$(cat out)" 0
        holds "$1.db" "align|1000|300000
fill|1000|599500
grow|500|2500000
make|1|2560576" "
                SELECT l.function, sum(t.allocations), sum(t.total_bytes)
                FROM allocation_total AS t JOIN stack_location USING (stack_id)
                JOIN location AS l USING (location_id)
                WHERE l.function IN ('make', 'fill', 'grow', 'align') GROUP BY 1"
        holds "$1.db" 1 "SELECT sum(object LIKE 'make at blocks.c:%') >= 0.95 * count(*)
                FROM sample_view WHERE function = 'walk'"
        holds "$1.db" 0 "SELECT count(*) FROM ledger
                WHERE kind = 'processes without heap objects'"
}

"$CC" -g -O1 -o dynamic blocks.c
check dynamic
"$CC" -g -O1 -static -o static blocks.c
check static
if has musl-gcc; then
        musl-gcc -g -O1 -static -o static_musl blocks.c
        check static_musl
        musl-gcc -g -O1 -o dynamic_musl blocks.c
        check dynamic_musl
fi
# How many programs the ledger says.
not_followed="SELECT coalesce(sum(value), 0) FROM ledger WHERE kind = 'programs whose own allocator is not followed'"
holds dynamic.db 0 "$not_followed" # the C library's allocator is not the program's
# An allocator in the program's file, in a section that is followed and in another.
program bump -fno-builtin <<'END'
#ifndef SECTION
#define SECTION ".text"
#endif
static char pool[8 << 20] __attribute__((aligned(64)));
static size_t used;
__attribute__((section(SECTION))) void *malloc(size_t size)
{
        char *block = pool + used;
        used += (size + 63) / 64 * 64;
        return block;
}
__attribute__((section(SECTION))) void free(void *block)
{
}
__attribute__((section(SECTION))) void *calloc(size_t count, size_t size)
{
        return malloc(count * size);
}
__attribute__((section(SECTION))) void *realloc(void *old, size_t size)
{
        void *block = malloc(size);
        return old ? memcpy(block, old, size) : block;
}
int main(void)
{
        char *block = malloc(4 << 20);
        memset(block, 1, 4 << 20);
        long sum = 0;
        for (int round = 0; round < 40; round++)
                for (size_t i = 0; i < 4 << 20; i += 64)
                        sum += block[i];
        free(block);
        return sum == 0;
}
END
compile -fno-builtin -DSECTION='"another"' -o elsewhere bump.c
for program in bump elsewhere; do
        record $program -- ./$program
        "$MEMLAG" record --source clock -o $program.clock.db -- ./$program 2>err ||
                echo "own_malloc.sh: SKIPPED on the processor: $(cat err)" >&2
        [ ! -e $program.clock.db ] || holds $program.clock.db 1 "$not_followed"
done
holds bump.db 0 "$not_followed"
holds elsewhere.db 1 "$not_followed"
holds bump.db 1 "SELECT count(*) FROM object_view WHERE object LIKE 'main at bump.c:%'
        AND size_bytes = 4194304"
"$MEMLAG" report --by object elsewhere.db | grep -q "allocator in a program's own file" ||
        fail "no remedy"
if "$CC" -g -O1 -o jemalloc blocks.c -Wl,-Bstatic -ljemalloc -Wl,-Bdynamic -lm -pthread 2>/dev/null; then
        check jemalloc
else
        echo "own_malloc.sh: SKIPPED: no jemalloc here" >&2
fi
