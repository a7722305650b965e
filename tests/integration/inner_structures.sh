#!/bin/sh
# SPDX-License-Identifier: MIT
# A register that points to a structure by one way and, by another, to the same structure as
# a member of a larger one: what both lead to is known.
set -eu

fail()
{
        echo "inner_structures.sh: $*" >&2
        exit 1
}

cat >inner.c <<'END'
#include <stdlib.h>
struct sym;
struct ctype { int t; struct sym *ref; };
struct sym { long v, r; struct ctype type; };
enum { COUNT = 20000 };
/* The type of what a pointer is to is a member of that: the parameter goes on there. */
static int compatible(struct ctype *a, struct ctype *b);
static struct ctype *pointed(struct ctype *type)
{
        return &type->ref->type;
}
__attribute__((noinline)) static int same(struct ctype *a, struct ctype *b, int exact)
{
        int t = a->t & 15, u = b->t & 15;
        if (exact) {
                t &= ~8;
                u &= ~8;
        }
        if (t != u)
                return 0;
        if (t == 1) {
                a = pointed(a);
                b = pointed(b);
                return compatible(a, b);
        }
        return a->ref == b->ref;
}
static int compatible(struct ctype *a, struct ctype *b)
{
        return same(a, b, 0);
}
int main(void)
{
        static struct sym *all[COUNT];
        char *pool = malloc(COUNT * 48);
        int sum = 0;
        for (int i = 0; i < COUNT; i++) {
                all[i] = (struct sym *)(pool + 48 * (i * 7919L % COUNT));
                *all[i] = (struct sym){.type = {i % 16 > 0, i ? all[i - 1] : NULL}};
        }
        for (int round = 0; round < 4; round++)
                for (int i = 0; i + 16 < COUNT; i++)
                        sum += same(&all[i]->type, &all[i + 16]->type, i & 1);
        return sum == 1;
}
END

for compiler in gcc clang; do
        if ! command -v "$compiler" >/dev/null; then
                echo "inner_structures.sh: SKIPPED with $compiler: it is not installed" >&2
                continue
        fi
        "$compiler" -g -O2 -o "inner_$compiler" inner.c
        "$MEMLAG" record -o "$compiler.db" $LOADS --ldlat 1 --period 37 -- \
                "./inner_$compiler" >"$compiler.out" 2>&1 || fail "$compiler: $(cat "$compiler.out")"
        said=$(sqlite3 -readonly "$compiler.db" "SELECT count(*) > 1000, sum(type IS NULL),
                sum(replace(field, 'type.', '') <> CASE WHEN instruction LIKE '%0x8(%' THEN 'ref' ELSE 't' END)
                FROM sample_view WHERE object_kind = 'heap' AND function IN ('same', 'pointed')")
        [ "$said" = "1|0|0" ] || fail "$compiler: of the accesses open and wrong are $said"
done
