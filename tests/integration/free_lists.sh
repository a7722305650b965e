#!/bin/sh
# SPDX-License-Identifier: MIT
# A list of free items has a link of its own in each, which a macro reads by the pointer to the
# item that is taken: the link is no field of that. A list that has its items' own type does
# read their field.
set -eu

fail()
{
        echo "free_lists.sh: $*" >&2
        exit 1
}

cat >lists.c <<'END'
#include <stdlib.h>
#define READS __attribute__((noinline)) static
enum { N = 4000, SIZE = 64 };
struct free_item { struct free_item *free_next; };
struct node { struct node *left; long key, uses; };
struct item { struct item *next; long key, uses; };
struct { struct free_item *first; long size; } lists[2];
static struct free_item *all;
static struct item *items, *all_items;
static volatile long result;
#define TAKE(p, id, type) \
        ((p = (type *)lists[id].first) \
                ? (type *)(lists[id].first = ((struct free_item *)p)->free_next) \
                : NULL)
READS long take(void)
{
        struct node *n;
        (void)TAKE(n, 1, struct node);
        if (!n) {
                lists[1].first = all;
                return 0;
        }
        n->uses = 3;
        return n->key;
}
READS long pop(void)
{
        struct item *i = items;
        if (!i) {
                items = all_items;
                return 0;
        }
        items = i->next;
        i->uses = 3;
        return i->key;
}
int main(void)
{
        char *pool = calloc(N, SIZE), *item_pool = calloc(N, SIZE);
        for (long i = 0; i < N; i++) {
                struct free_item *f = (struct free_item *)(pool + i * 793 % N * SIZE);
                f->free_next = all;
                all = f;
                struct item *item = (struct item *)(item_pool + i * 793 % N * SIZE);
                item->next = all_items;
                all_items = item;
        }
        for (long i = 0; i < 4 * N; i++)
                result += take() + pop();
        return 0;
}
END

check()
{
        "$1" -g -O2 -o lists lists.c
        "$MEMLAG" record --force -o lists.db $LOADS --ldlat 1 --period 7 -- ./lists >out 2>&1 ||
                fail "$1: $(cat out)"
        said=$(sqlite3 -readonly lists.db "SELECT function, coalesce(type || '.' || field, 'open'),
                count(*) > 300 FROM sample_view WHERE object_kind = 'heap' AND op = 'load' AND
                function IN ('pop', 'take') GROUP BY 1, 2")
        [ "$said" = "pop|struct item.key|1
pop|struct item.next|1
take|open|1
take|struct node.key|1" ] || fail "$1: the items are said to be $said"
}

check gcc
if command -v clang >/dev/null; then
        check clang
else
        echo "free_lists.sh: SKIPPED with clang: it is not installed" >&2
fi
