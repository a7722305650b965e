#!/bin/sh
# SPDX-License-Identifier: MIT
# A pointer of one structure's type is cast to another's, and no variable holds the result:
# the machine code has only the first type, and the block was allocated as the second. That
# first type's field is not there. The same where a list's head is taken for the link of an
# entry: what was read is the head's, where its block was allocated as something with a link.
# And pointers in the frame that were overwritten, or of which one of several is read.
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

cat >heads.c <<'END'
#include <stddef.h>
#include <stdlib.h>
struct link { struct link *next, *prev; };
struct bucket { struct link head; unsigned used, limit; };
struct item { unsigned key; unsigned short state, port; struct link in; unsigned long sum, rest; };
enum { COUNT = 6000 };
#define ITEM(link) ((struct item *)((char *)(link)-offsetof(struct item, in)))
static volatile unsigned long result;
__attribute__((noinline)) static unsigned long buckets(struct bucket *b)
{
        unsigned long sum = 0;
        for (int i = 0; i < COUNT; i++) /* begins at the head as if it were an item's */
                for (struct item *c = ITEM(&b[i].head);
                     c = ITEM(c->in.next), &c->in != &b[i].head;)
                        sum += c->sum;
        return sum;
}
__attribute__((noinline)) static unsigned long rings(struct item **from)
{
        unsigned long sum = 0;
        for (int i = 0; i < COUNT; i++) { /* through the head, too */
                struct item *c = from[i];
                do {
                        sum += c->sum * 3;
                        c = ITEM(c->in.next);
                } while (c != from[i]);
        }
        return sum;
}
__attribute__((noinline)) static unsigned long heads(struct link **from)
{
        unsigned long sum = 0;
        for (int i = 0; i < COUNT; i++)
                for (struct item *c = ITEM(from[i]); c = ITEM(c->in.next), &c->in != from[i];)
                        sum += c->sum;
        return sum;
}
static struct item *items[COUNT];
static struct link *others[COUNT];
static struct item *new_item(int i, struct link *head)
{
        struct item *c = calloc(1, sizeof *c);
        c->sum = c->rest = i;
        c->in = (struct link){head->next, head};
        return c;
}
int main(void)
{
        struct bucket *b = malloc(COUNT * sizeof *b);
        for (int i = 0; i < COUNT; i++) {
                b[i].head = (struct link){&b[i].head, &b[i].head};
                b[i].used = b[i].limit = 1;
                others[i] = malloc(40);
                *others[i] = (struct link){others[i], others[i]};
        }
        for (int i = 0; i < COUNT; i++) {
                int at = i * 7919L % COUNT;
                items[i] = new_item(i, &b[at].head);
                b[at].head.next = &items[i]->in;
                others[at]->next = &new_item(i, others[at])->in;
        }
        for (int i = 0; i < 10; i++)
                result += buckets(b) + rings(items) + heads(others);
        return 0;
}
END

# said COMPILER: what the blocks are said to be.
said()
{
        "$1" -g -O2 -o "cast_$1" cast.c
        "$MEMLAG" record --force -o "$1.db" $LOADS --period 37 -- "./cast_$1" >"$1.out" 2>&1 ||
                fail "$(cat "$1.out")"
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
        "$MEMLAG" record --force -o made.db $LOADS --period 37 -- ./made >made.out 2>&1 ||
                fail "$(cat made.out)"
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
        "$MEMLAG" record --force -o bases.db $LOADS --period 37 -- ./bases >bases.out 2>&1 ||
                fail "$(cat bases.out)"
        said=$(sqlite3 -readonly bases.db "SELECT type, field, count(*) > 100 FROM sample_view
                WHERE function LIKE '%walk%' AND object_kind = 'heap' GROUP BY 1, 2")
        [ "$said" = "Task|Hook<1>::next|1
Task|priority|1" ] || fail "what base classes are in is said to be $said"
}

# check_heads COMPILER HEAD: HEAD is what the heads are said to be whose blocks have no type.
check_heads()
{
        "$1" -g -O2 -o "heads_$1" heads.c
        "$MEMLAG" record --force -o heads.db $LOADS --period 37 -- "./heads_$1" >heads.out 2>&1 ||
                fail "$(cat heads.out)"
        said=$(sqlite3 -readonly heads.db "SELECT function, substr(object, 1, instr(object, ' ') - 1),
                coalesce(type || '.' || field, 'open'), count(*) > 100 FROM sample_view
                WHERE function IN ('buckets', 'rings', 'heads') AND object_kind = 'heap'
                GROUP BY 1, 2, 3")
        [ "$said" = "buckets|main|struct bucket.head.next|1
buckets|new_item|struct item.in.next|1
buckets|new_item|struct item.sum|1
heads|main|$2|1
heads|new_item|struct item.in.next|1
heads|new_item|struct item.sum|1
rings|main|open|1
rings|main|struct bucket.head.next|1
rings|new_item|struct item.in.next|1
rings|new_item|struct item.sum|1" ] || fail "$1: what lists lead to is said to be $said"
}

cat >slots.c <<'END'
#include <stdlib.h>
struct first { long a0, a1, a2, a3; };
struct second { long b0, b1, b2, b3; };
struct box { long rest[2]; void *item; };
struct shelf { void *items[40]; };
struct found { struct first *items[20]; long *numbers; };
#ifdef __clang__
#define UNCHANGED __attribute__((noinline))
#else
#define UNCHANGED __attribute__((noipa))
#endif
struct two { struct first *one; struct second *other; };
enum { COUNT = 4000 };
static void *firsts[COUNT], *seconds[COUNT];
static long *numbers[COUNT];
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
UNCHANGED long by_copy(struct first *pa, const struct shelf *from, int d, int at)
{
        struct shelf local;
        *(void *volatile *)&local.items[39] = NULL;
        local = *from;
        void *q = pa;
        if (d)
                q = local.items[39];
        return ((struct second *)q)->b1 + (local.items[at] != 0);
}
UNCHANGED void find(long **to, struct first **from, struct first **end, int i)
{
        *from = firsts[i];
        from[1] = end[-1] = firsts[i];
        *to = numbers[i];
}
UNCHANGED long behind(int i)
{
        struct found local;
        struct first **end = local.items + 20;
        find(&local.numbers, local.items, end, i);
        long sum = 0;
        for (struct first **at = local.items; at != end; at++) {
                sum += local.numbers[3] + (*at == 0);
                __asm__ volatile("" : : : "memory");
        }
        return sum;
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
struct holder { struct box *box; };
static struct box *shared;
static void **cell;
UNCHANGED long let_out_store(struct first *pa, void *pb, struct box *other, int c)
{
        struct box local = {{0, 0}, pa}, *b = c ? &local : other;
        b->item = pb;
        return ((struct second *)local.item)->b1;
}
UNCHANGED void put(void *item) { shared->item = item; }
UNCHANGED long let_out_call(struct first *pa, void *pb)
{
        struct box local = {{0, 0}, pa};
        shared = &local;
        result += pa->a0;
        put(pb);
        return ((struct second *)local.item)->b1;
}
UNCHANGED void meet(void **at) { cell = at; }
UNCHANGED long let_out_cell(struct first *pa, void *pb)
{
        void *item = NULL;
        meet(&item);
        item = pa;
        result += pa->a0;
        *cell = pb;
        return ((struct second *)item)->b1;
}
UNCHANGED void put_in(struct holder *h, void *item) { h->box->item = item; }
UNCHANGED long let_out_holder(struct first *pa, void *pb)
{
        struct box local = {{0, 0}, pa};
        struct holder h = {&local};
        result += pa->a0;
        put_in(&h, pb);
        return ((struct second *)local.item)->b1;
}
int main(void)
{
        struct box other;
        struct shelf shelf = {{0}};
        for (int i = 0; i < COUNT; i++) {
                int at = i * 7919L % COUNT;
                firsts[at] = malloc(32 + i % 3 * 16);
                seconds[at] = malloc(32 + i % 3 * 16);
                numbers[at] = malloc(32 + i % 3 * 16);
                for (int k = 0; k < 4; k++)
                        ((long *)firsts[at])[k] = ((long *)seconds[at])[k] = numbers[at][k] = k;
        }
        for (int round = 0; round < 4; round++)
                for (int i = 0; i < COUNT; i++) {
                        shelf.items[39] = seconds[i];
                        result += by_pointer(firsts[i], seconds[i], &other, yes, yes) +
                                  by_copy(firsts[i], &shelf, yes, i % 8) +
                                  by_choice(i, yes) + behind(i) +
                                  let_out_store(firsts[i], seconds[i], &other, yes) +
                                  let_out_call(firsts[i], seconds[i]) +
                                  let_out_cell(firsts[i], seconds[i]) +
                                  let_out_holder(firsts[i], seconds[i]);
                }
        return 0;
}
END

# check_slots COMPILER: what lies in the frame is written by a pointer that may be to another
# place, or by a function that has its address from elsewhere, and by one instruction as a
# whole; a variable lies behind an array that a pointer is
# to the end of; one of two pointers of different types is chosen. Nothing may be wrong.
check_slots()
{
        "$1" -g -O2 -w -o "slots_$1" slots.c
        "$MEMLAG" record --force -o slots.db $LOADS --ldlat 1 --period 37 -- \
                "./slots_$1" >slots.out 2>&1 || fail "$1: $(cat slots.out)"
        said=$(sqlite3 -readonly slots.db "SELECT function,
                sum(coalesce(type = 'struct first' AND field <> 'a0', 0)), count(*) > 100
                FROM sample_view WHERE object_kind = 'heap' AND (function LIKE 'let_out%' OR
                function IN ('behind', 'by_choice', 'by_copy', 'by_pointer')) GROUP BY 1")
        [ "$said" = "behind|0|1
by_choice|0|1
by_copy|0|1
by_pointer|0|1
let_out_call|0|1
let_out_cell|0|1
let_out_holder|0|1
let_out_store|0|1" ] || fail "$1: what slots of the frame lead to is said to be $said"
}

# Links to nodes that are told by their lowest bit, which is taken off in each access.
cat >tagged.c <<'END'
#include <stdint.h>
#include <stdlib.h>
struct node { struct node *child[2]; uint32_t byte; uint8_t others, third, fourth; };
static volatile size_t result;
__attribute__((noinline)) static struct node *tagged(struct node *p, const uint8_t *key, size_t length)
{
        while ((uintptr_t)p & 1) {
                struct node *q = (struct node *)((uintptr_t)p - 1);
                uint8_t c = q->byte < length ? key[q->byte] : 0;
                p = q->child[(1 + (q->others | c)) >> 8];
        }
        return p;
}
/* An allocator that leaves four bytes between blocks puts half of them beside their place. */
__attribute__((noinline)) static size_t packed(const struct node *p, uint32_t wanted)
{
        size_t found = 0;
        for (; p; p = p->child[0])
                if (p->byte == wanted)
                        found++;
        return found;
}
static struct node *pack(int count)
{
        char *pool = malloc((size_t)count * 28);
        struct node *last = NULL;
        for (int i = 0; i < count; i++) {
                struct node *node = (struct node *)(pool + 28 * (i * 793 % count));
                *node = (struct node){.child[0] = last, .byte = 1};
                last = node;
        }
        return last;
}
int main(int argc, char **argv)
{
        enum { COUNT = 1 << 13 };
        (void)argv;
        struct node *first = pack(COUNT);
        size_t counted = 0;
        for (int pass = 0; pass < 20; pass++)
                counted += packed(first, 1);
        char *pool = argc > 1 ? NULL : malloc(COUNT * 32);
        struct node **all = malloc(COUNT * sizeof(*all));
        uint8_t key[8] = {0};
        size_t sum = 0;
        for (size_t i = 0; i < COUNT; i++)
                all[i] = pool ? (struct node *)(pool + 32 * (i * 793 % COUNT))
                              : malloc(sizeof(struct node));
        for (size_t i = 0; i < COUNT; i++) {
                all[i]->child[0] = (struct node *)((char *)all[i + 1 < COUNT ? i + 1 : 0] +
                                                   (i + 1 < COUNT));
                all[i]->child[1] = all[i]->child[0];
                all[i]->byte = i % 8;
                all[i]->others = 3;
        }
        for (int pass = 0; pass < 20; pass++)
                sum += (uintptr_t)tagged((struct node *)((char *)all[0] + 1), key, sizeof(key));
        result = sum + counted;
        return 0;
}
END

# check_tagged COMPILER: of the reads of one byte none is said to be of a wider number, and
# those of nodes that are not all in their place are said to be theirs.
check_tagged()
{
        "$1" -g -O2 -w -o "tagged_$1" tagged.c
        for blocks in '' single; do
                "$MEMLAG" record --force -o tagged.db $LOADS --ldlat 1 --period 37 -- \
                        "./tagged_$1" $blocks >tagged.out 2>&1 || fail "$1: $(cat tagged.out)"
                said=$(sqlite3 -readonly tagged.db "SELECT count(*) > 100,
                        sum(coalesce(field <> 'others', 0)) FROM sample_view
                        WHERE object_kind = 'heap' AND function = 'tagged' AND access_bytes = 1")
                [ "$said" = '1|0' ] || fail "$1 $blocks: bytes behind tagged pointers: $said"
                said=$(sqlite3 -readonly tagged.db "SELECT count(*) > 100,
                        sum(coalesce(field, '') <> 'byte') FROM sample_view
                        WHERE object_kind = 'heap' AND function = 'packed' AND access_bytes = 4")
                [ "$said" = '1|0' ] || fail "$1 $blocks: nodes beside their place: $said"
        done
}

check gcc
check_tagged gcc
check_heads gcc open
check_slots gcc
check_made
check_bases
if command -v clang >/dev/null; then
        check clang
        check_tagged clang
        check_heads clang 'struct link.next'
        check_slots clang
else
        echo "cast_pointers.sh: SKIPPED with clang: it is not installed" >&2
fi
