#!/bin/sh
# SPDX-License-Identifier: MIT
# One pointer that is cast to two structures, by two variables of one block: what is read is
# of either, and the debug information does not say of which. What lies before that, the
# header whose pointer it was made of, is told; so is what a variable of an inner block, or
# one that a constant is added for, leads to.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >casts.c <<'END'
#include <stdlib.h>
#define READS __attribute__((noinline)) static
struct frame { long kind, bytes; };
struct packet { long from, to; int hops, mark; };
struct query { int op, flags; long sender; double when; };
struct list { long count; int kind, flags; };
struct wide { long first, second; double weight; };
enum { COUNT = 4000, ITEMS = 3000 };
static struct frame *frames[COUNT];
static struct list *volatile list;
static volatile double result;
READS double behind(struct frame *f)
{
        struct packet *p = (struct packet *)(f + 1);
        struct query *q = (struct query *)(f + 1);
        if (f->kind)
                return (double)p->to * 2;
        return q->when + q->op;
}
READS double at_once(char *bytes, long kind)
{
        struct packet *p = (struct packet *)bytes;
        struct query *q = (struct query *)bytes;
        return kind ? (double)(p->from + p->hops) : q->when + (double)q->sender;
}
READS double in_blocks(struct frame *f)
{
        switch (f->kind) {
        case 1: {
                struct packet *p = (struct packet *)(f + 1);
                return p->to + p->hops;
        }
        case 0: {
                struct query *q = (struct query *)(f + 1);
                return q->when * q->flags;
        }
        }
        return 0;
}
READS double items(struct list *l)
{
        struct wide *items = (struct wide *)(l + 1);
        double sum = 0;
        for (long i = 0; i < l->count; i++)
                sum += items[i].weight * items[i].first;
        return sum;
}
int main(void)
{
        struct list *all = calloc(1, sizeof *all + ITEMS * sizeof(struct wide));
        all->count = ITEMS;
        list = all;
        for (int i = 0; i < COUNT; i++) {
                frames[i] = calloc(1, sizeof(struct frame) + 24);
                frames[i]->kind = i & 1;
        }
        for (int round = 0; round < 12; round++) {
                for (int i = 0; i < COUNT; i++) {
                        struct frame *f = frames[i * 7L % COUNT];
                        result += behind(f) + in_blocks(f) + at_once((char *)(f + 1), f->kind);
                }
                result += items(list);
        }
        return 0;
}
END

# said COMPILER: by function and offset (of items: in one of them), what heap blocks are said
# to be, of which there are some samples.
said()
{
        "$1" -g -O2 -o "casts_$1" casts.c
        record casts $LOADS --ldlat 1 --period 37 -- "./casts_$1"
        sqlite3 -readonly casts.db "SELECT function,
                iif(function = 'items' AND object_offset_bytes > 15,
                        (object_offset_bytes - 16) % 24 + 16, object_offset_bytes) AS at,
                coalesce(type || '.' || field, 'open') FROM sample_view
                JOIN attribution USING (sample_id)
                WHERE object_kind = 'heap' AND function IN ($2)
                GROUP BY 1, 2, 3 HAVING count(*) > 20"
}

# check COMPILER
check()
{
        held=$(said "$1" "'behind', 'at_once'")
        [ "$held" = "at_once|16|open
at_once|24|open
at_once|32|open
behind|0|struct frame.kind
behind|16|open
behind|24|open
behind|32|open" ] || fail "$1: what two variables lead to is said to be $held"
}

check gcc
held=$(said gcc "'in_blocks', 'items'")
[ "$held" = "in_blocks|0|struct frame.kind
in_blocks|20|struct query.flags
in_blocks|24|struct packet.to
in_blocks|32|struct packet.hops
in_blocks|32|struct query.when
items|16|struct wide.first
items|32|struct wide.weight" ] || fail "what one variable leads to is said to be $held"
if command -v clang >/dev/null; then
        check clang
else
        echo "two_casts.sh: SKIPPED with clang: it is not installed" >&2
fi

# An inlined function has taken the base of a structure, by which its debug information calls
# the register further on: what lies behind the base is the structure's all the same.
cat >derived.c <<'END'
#include <stdlib.h>
struct base { long count; void *type; long size; };
struct list { struct base base; long **items; long allocated; };
static inline __attribute__((always_inline)) long size_of(struct base *b)
{
        struct base *same = (struct base *)b;
        return same->size;
}
typedef int visit(long *, void *);
__attribute__((noinline)) int first(long *p, void *q) { *(long *)q += *p; return 0; }
__attribute__((noinline)) int second(long *p, void *q) { *(long *)q -= *p; return 0; }
__attribute__((noinline)) int derived(struct list *list, visit *visit, void *arg)
{
        for (long i = size_of((struct base *)list); --i >= 0;)
                if (list->items[i]) {
                        int result = visit == first ? first(list->items[i], arg)
                                                    : visit(list->items[i], arg);
                        if (result)
                                return result;
                }
        return 0;
}
int main(void)
{
        enum { LISTS = 4000 };
        static struct list *all[LISTS];
        char *pool = malloc(LISTS * 64L);
        long number = 1, sum = 0;
        for (long i = 0; i < LISTS; i++) {
                all[i] = (struct list *)(pool + (i * 793 % LISTS) * 64);
                all[i]->base.size = 2;
                all[i]->items = malloc(2 * sizeof(*all[i]->items));
                all[i]->items[0] = all[i]->items[1] = &number;
        }
        for (int pass = 0; pass < 30; pass++)
                for (long i = 0; i < LISTS; i++)
                        derived(all[i], pass & 1 ? first : second, &sum);
        return sum == 1;
}
END
for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        $compiler -g -O2 -o derived derived.c
        record derived $LOADS --period 37 --ldlat 1 -- ./derived
        said=$(sqlite3 -readonly derived.db "SELECT DISTINCT coalesce(type || '.' || field, 'open')
                FROM sample_view WHERE function = 'derived' AND access_bytes = 8
                AND object LIKE 'main%' AND instruction LIKE 'mov    0x18(%' ORDER BY 1")
        [ "$said" = 'struct list.items' ] || fail "$compiler: behind a base: $said"
done

# What the inlined function itself reads behind the base need not be of that structure.
cat >inside.c <<'END'
#include <stdlib.h>
#include <string.h>
struct base { long kind, flags; };
struct one { struct base base; long x, y, rest[4]; };
struct other { struct base base; long u, v, w, rest[3]; };
static inline __attribute__((always_inline)) long w_of(const struct base *b)
{
        return ((const struct other *)b)->w;
}
__attribute__((noinline)) long inside(const struct base *b)
{
        const struct one *a = (const struct one *)b;
        long result = w_of(b);
        if (b->kind == 1)
                result += a->y;
        return result;
}
int main(void)
{
        enum { ALL = 4000 };
        static void *all[ALL];
        char *pool = malloc(ALL * 64L);
        long two = 2, sum = 0;
        for (long i = 0; i < ALL; i++)
                memcpy(all[i] = pool + (i * 793 % ALL) * 64, &two, sizeof(two));
        for (int pass = 0; pass < 30; pass++)
                for (long i = 0; i < ALL; i++)
                        sum += inside(all[i]);
        return sum == 1;
}
END
for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        $compiler -g -O2 -o inside inside.c
        record inside $LOADS --period 37 --ldlat 1 -- ./inside
        said=$(sqlite3 -readonly inside.db "SELECT DISTINCT coalesce(type || '.' || field, 'open')
                FROM sample_view WHERE function = 'w_of' AND object LIKE 'main%'
                AND instruction LIKE '%0x20(%'")
        [ "$said" = open ] || fail "$compiler: inside an inlined function: $said"
done
