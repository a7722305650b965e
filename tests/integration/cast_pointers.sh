#!/bin/sh
# SPDX-License-Identifier: MIT
# A pointer of one structure's type is cast to another's, and no variable holds the result:
# the machine code has only the first type, and the block was allocated as the second. That
# first type's field is not there.
set -eu

fail()
{
        echo "cast_pointers.sh: $*" >&2
        exit 1
}

cat >cast.c <<'END'
#include <stdlib.h>
struct link { long tag; struct link *up; };
struct node { long key; struct node *left; long weight, depth; };
struct leaf { long id; struct link *up; long age; };
enum { COUNT = 5000 };
static struct leaf *leaves[COUNT];
static volatile long result;
__attribute__((noinline)) static long named(void)
{
        long sum = 0;
        for (int i = 0; i < COUNT; i++) {
                struct node *node = (struct node *)leaves[i]->up;
                sum += node->key * 3 + node->weight;
        }
        return sum;
}
__attribute__((noinline)) static long unnamed(struct leaf **from, int count)
{
        long sum = 0;
        for (int i = 0; i < count; i++)
                sum ^= ((struct node *)from[i]->up)->key * 5;
        return sum;
}
int main(void)
{
        for (int i = 0; i < COUNT; i++) {
                struct node *node = malloc(sizeof *node);
                *node = (struct node){i, 0, 2, 1};
                struct leaf *leaf = malloc(sizeof *leaf);
                *leaf = (struct leaf){i, (struct link *)node, 3};
                leaves[i * 7919L % COUNT] = leaf;
        }
        for (int i = 0; i < 20; i++)
                result += named() + unnamed(leaves, COUNT);
        return 0;
}
END

# check COMPILER
check()
{
        "$1" -g -O2 -o "cast_$1" cast.c
        "$MEMLAG" record --force -o "$1.db" --source sim --period 37 -- "./cast_$1" >"$1.out" 2>&1 ||
                fail "$(cat "$1.out")"
        said=$(sqlite3 -readonly "$1.db" "SELECT function, coalesce(type || '.' || field, 'open'),
                count(*) > 30 FROM sample_view
                WHERE function IN ('named', 'unnamed') AND object_kind = 'heap' GROUP BY 1, 2")
        [ "$said" = "named|struct leaf.up|1
named|struct node.key|1
named|struct node.weight|1
unnamed|open|1
unnamed|struct leaf.up|1" ] || fail "$1: the blocks are said to be $said"
}

check gcc
if command -v clang >/dev/null; then
        check clang
else
        echo "cast_pointers.sh: SKIPPED with clang: it is not installed" >&2
fi
