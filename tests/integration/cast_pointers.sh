#!/bin/sh
# SPDX-License-Identifier: MIT
# A pointer of one structure's type is cast to another's, and no variable holds the result:
# the machine code has only the first type, and the block was allocated as the second. That
# first type's field is not there. And pointers in the frame that were overwritten, or of which
# one of several is read.
. "$SOURCE_DIR/tests/integration/library.sh"

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

# said COMPILER: what the blocks are said to be.
said()
{
        "$1" -g -O2 -o "cast_$1" cast.c
        record "$1" $LOADS --period 37 -- "./cast_$1"
        sqlite3 -readonly "$1.db" "SELECT function, coalesce(type || '.' || field, 'open'),
                count(*) > 30 FROM sample_view
                WHERE function IN ('named', 'unnamed') AND object_kind = 'heap' GROUP BY 1, 2"
}

# check COMPILER: pointer and block disagree where no variable holds the cast pointer.
check()
{
        held=$(said "$1")
        [ "$held" = "named|struct leaf.up|1
named|struct node.key|1
named|struct node.weight|1
unnamed|open|1
unnamed|struct leaf.up|1" ] || fail "$1: the blocks are said to be $held"
}

cat >made.c <<'END'
#include <stdlib.h>
struct object { struct object *next; unsigned kind, size; };
struct pair { struct object object; long left, right; };
struct text { struct object object; long hash, bytes; double weight; };
enum { COUNT = 6000 };
static struct object *all;
static volatile long result;
__attribute__((noinline)) static void *make(size_t size, unsigned kind)
{
        struct object *o = malloc(size);
        *o = (struct object){all, kind, size};
        return all = o;
}
__attribute__((noinline)) static struct pair *make_pair(long value)
{
        struct pair *p = make(sizeof *p, 1);
        p->left = p->right = value;
        return p;
}
__attribute__((noinline)) static struct text *make_text(long value)
{
        struct text *t = make(sizeof *t, 2);
        t->hash = t->bytes = value;
        return t;
}
__attribute__((noinline)) static long members(struct object *o)
{
        long sum = 0;
        for (; o; o = o->next)
                sum += o->kind == 1 ? ((struct pair *)o)->right * 3 : ((struct text *)o)->hash * 5;
        return sum;
}
int main(void)
{
        for (int i = 0; i < COUNT; i++) {
                make_pair(i);
                make_text(i);
        }
        for (int i = 0; i < 10; i++)
                result += members(all);
        return 0;
}
END

# What the callers of a function that knows but the beginning of what it allocates take that
# for is what casts without a variable lead to.
check_made()
{
        gcc -g -O2 -o made made.c
        record made $LOADS --period 37 -- ./made
        said=$(sqlite3 -readonly made.db "SELECT coalesce(type || '.' || field, 'open'), count(*) > 100
                FROM sample_view WHERE function = 'members' AND object_kind = 'heap' GROUP BY 1")
        [ "$said" = "struct pair.object.kind|1
struct pair.object.next|1
struct pair.right|1
struct text.hash|1
struct text.object.kind|1
struct text.object.next|1" ] || fail "what is made is said to be $said"
}

cat >bases.cc <<'END'
template <int Tag> struct Hook { Hook *next, *prev; };
struct Task : Hook<0>, Hook<1> { unsigned long id; double cost; unsigned state, priority; };
static Hook<1> all = {&all, &all};
static volatile unsigned long result;
__attribute__((noinline)) static unsigned long walk()
{
        unsigned long sum = 0;
        for (Hook<1> *h = all.next; h != &all; h = h->next)
                sum += static_cast<Task *>(h)->priority;
        return sum;
}
int main()
{
        for (int i = 0; i < 3000; i++) {
                Task *task = new Task();
                Hook<1> *h = task;
                h->next = all.next;
                all.next = h;
        }
        for (int i = 0; i < 20; i++)
                result += walk();
}
END

# A cast from the second base class leaves the null pointer as it is, by a conditional move:
# the base and what is its size before that are no two items.
check_bases()
{
        g++ -g -O1 -o bases bases.cc
        record bases $LOADS --period 37 -- ./bases
        said=$(sqlite3 -readonly bases.db "SELECT type, field, count(*) > 100 FROM sample_view
                WHERE function LIKE '%walk%' AND object_kind = 'heap' GROUP BY 1, 2")
        [ "$said" = "Task|Hook<1>::next|1
Task|priority|1" ] || fail "what base classes are in is said to be $said"
}

cat >slots.c <<'END'
#include <stdlib.h>
struct first { long a0, a1, a2, a3; };
struct second { long b0, b1, b2, b3; };
struct box { long rest[2]; void *item; };
#ifdef __clang__
#define UNCHANGED __attribute__((noinline))
#else
#define UNCHANGED __attribute__((noipa))
#endif
struct two { struct first *one; struct second *other; };
enum { COUNT = 4000 };
static void *firsts[COUNT], *seconds[COUNT];
static volatile long result;
static volatile int yes = 1;
UNCHANGED long by_pointer(struct first *pa, void *pb, struct box *other, int c, int d)
{
        struct box local = {{0, 0}, NULL}, *b = c ? &local : other;
        b->item = pb;
        void *q = pa;
        if (d)
                q = local.item;
        return ((struct second *)q)->b1;
}
UNCHANGED void fill(struct two *two, int i)
{
        *two = (struct two){firsts[i], seconds[i]};
}
UNCHANGED long by_choice(int i, int c)
{
        struct two local;
        fill(&local, i);
        void **at = c ? (void **)&local.other : (void **)&local.one;
        return ((struct second *)*at)->b1;
}
/* Others have the address of what lies in the frame. */
static struct box *shared;
UNCHANGED void put(void *item) { shared->item = item; }
UNCHANGED long let_out_call(struct first *pa, void *pb)
{
        struct box local = {{0, 0}, pa};
        shared = &local;
        result += pa->a0;
        put(pb);
        return ((struct second *)local.item)->b1;
}
int main(void)
{
        struct box other;
        for (int i = 0; i < COUNT; i++) {
                int at = i * 7919L % COUNT;
                firsts[at] = malloc(32 + i % 3 * 16);
                seconds[at] = malloc(32 + i % 3 * 16);
                for (int k = 0; k < 4; k++)
                        ((long *)firsts[at])[k] = ((long *)seconds[at])[k] = k;
        }
        for (int round = 0; round < 4; round++)
                for (int i = 0; i < COUNT; i++)
                        result += by_pointer(firsts[i], seconds[i], &other, yes, yes) +
                                  by_choice(i, yes) + let_out_call(firsts[i], seconds[i]);
        return 0;
}
END

# check_slots COMPILER: what lies in the frame is written by a pointer that may be to another
# place, or by a function that has its address from elsewhere; one of two pointers of different
# types is chosen. Nothing may be wrong.
check_slots()
{
        "$1" -g -O2 -w -o "slots_$1" slots.c
        record slots $LOADS --ldlat 1 --period 37 -- "./slots_$1"
        said=$(sqlite3 -readonly slots.db "SELECT function,
                sum(coalesce(type = 'struct first' AND field <> 'a0', 0)), count(*) > 100
                FROM sample_view WHERE object_kind = 'heap'
                AND function IN ('by_choice', 'by_pointer', 'let_out_call') GROUP BY 1")
        [ "$said" = "by_choice|0|1
by_pointer|0|1
let_out_call|0|1" ] || fail "$1: what slots of the frame lead to is said to be $said"
}

check gcc
check_slots gcc
check_made
check_bases
if command -v clang >/dev/null; then
        check clang
        check_slots clang
else
        echo "cast_pointers.sh: SKIPPED with clang: it is not installed" >&2
fi
