#!/bin/sh
# SPDX-License-Identifier: MIT
# Objects of several types lie in a pool without a type, and each case of a program reads its
# own by a pointer of its own: where the compiler makes one access of two, moved before a
# branch or behind its cases, the pointer of one case tells nothing of the other's objects.
# What decides which case it is was read before by the one pointer there was.
set -eu

fail()
{
        echo "merged_accesses.sh: $*" >&2
        exit 1
}

cat >rivals.c <<'END'
#include <stdint.h>
#include <stdlib.h>
enum { N = 6000 };
struct a { uint32_t ax, ay; double av; };
struct b { uint32_t bx, by; double bv; };
struct c { uint64_t cx; int64_t cv; };
struct d { uint64_t dx, dy; };
struct any { uint16_t family; char pad[126]; };
struct in4 { uint16_t family, port; uint32_t addr; };
struct in6 { uint16_t family, port; uint32_t flow; uint8_t bytes[16]; uint32_t scope; };
static void *obj[N];
static uint8_t kind[N];
static struct any *addrs;
static uintptr_t tagged[N];
static volatile double result;
#define NOINLINE __attribute__((noinline))
NOINLINE static double cases(void)
{
        double d = 0;
        int64_t s = 0;
        for (int i = 0; i < N; i++) {
                void *o = obj[i];
                switch (kind[i]) {
                case 0: { struct a *a = o; d += a->av; break; }
                case 1: { struct b *b = o; d += b->bv; break; }
                default: { struct c *c = o; s += c->cv; }
                }
        }
        return d + (double)s;
}
NOINLINE static uint64_t both(void **o)
{
        uint64_t s = 0;
        for (int i = 0; i < N; i++) {
                struct a *a = o[i];
                struct b *b = o[i];
                if (kind[i] == 0)
                        s += a->ax;
                else if (kind[i] == 1)
                        s ^= b->bx;
                else
                        s += 1;
        }
        return s;
}
NOINLINE static int sink(int x)
{
        __asm__ volatile("" : "+r"(x));
        return x;
}
NOINLINE static uint64_t calls(void **o)
{
        uint64_t s = 0;
        for (int i = 0; i < N; i++)
                if (kind[i] == 0) {
                        const struct a *a = o[i];
                        s += (uint64_t)sink((int)a->ax);
                } else if (kind[i] == 1) {
                        const struct b *b = o[i];
                        s += (uint64_t)sink((int)b->bx);
                }
        return s;
}
NOINLINE static double value(void *o, int k)
{
        if (k == 0) {
                struct a *a = o;
                return a->av;
        }
        if (k == 1) {
                struct b *b = o;
                return b->bv;
        }
        return 0;
}
NOINLINE int compare(const void *x, const void *y, int k);
int compare(const void *x, const void *y, int k)
{
        if (k) {
                const struct b *p = x, *q = y;
                return p->by < q->by ? -1 : p->by > q->by;
        }
        const struct a *p = x, *q = y;
        return p->ay < q->ay ? -1 : p->ay > q->ay;
}
NOINLINE static double next(void)
{
        double d = 0;
        for (int i = 0; i < N; i++) {
                if (kind[i] == 2)
                        continue;
                if (kind[i]) {
                        const struct b *b = obj[i];
                        d += b->bv;
                        continue;
                }
                const struct a *a = obj[i];
                d += a->av;
        }
        return d;
}
NOINLINE static uint64_t end(void)
{
        uint64_t s = 0;
        for (int i = 0; i < N; i++) {
                struct a *a;
                struct b *b;
                uint32_t v;
                if (kind[i] == 2)
                        continue;
                if (kind[i]) {
                        b = obj[i];
                        v = b->by;
                        goto add;
                }
                a = obj[i];
                v = a->ay;
        add:
                s += v;
        }
        return s;
}
NOINLINE static uint64_t turned(uintptr_t *tagged)
{
        uint64_t k = 0;
        for (int i = 0; i < N; i++) {
                struct c *c;
                struct d *d;
                switch (tagged[i] & 7) {
                case 1:
                        c = (struct c *)(tagged[i] & ~(uintptr_t)7);
                        k += c->cx & 1;
                        c->cx |= 2;
                        break;
                case 3:
                        d = (struct d *)(tagged[i] & ~(uintptr_t)7);
                        k += d->dx & 1;
                        d->dx |= 2;
                        break;
                }
        }
        return k;
}
NOINLINE static uint64_t moved(void)
{
        uint64_t s = 0;
        for (int i = 0; i < N; i++) {
                struct in4 *a = (struct in4 *)&addrs[i];
                if (a->family == 2) {
                        s += a->addr;
                } else {
                        struct in6 *b = (struct in6 *)&addrs[i];
                        s += b->flow + b->scope;
                }
        }
        return s;
}
int main(void)
{
        char *pool = calloc(N, sizeof(struct a));
        addrs = calloc(N, sizeof *addrs);
        for (int i = 0; i < N; i++) {
                obj[i] = pool + (size_t)i * sizeof(struct a);
                kind[i] = (uint8_t)(i * 7 % 3);
                addrs[i].family = i & 1 ? 2 : 10;
                tagged[i] = (uintptr_t)obj[i] + (kind[i] == 2 ? 1 : 3);
        }
        for (int r = 0; r < 20; r++) {
                result += cases() + next() +
                          (double)(both(obj) + calls(obj) + end() + moved());
                for (int i = 0; i < N; i++)
                        result += value(obj[i], kind[i]);
                for (int i = 3; i < N; i++)
                        if (kind[i] < 2)
                                result += compare(obj[i], obj[i - 3], kind[i]);
        }
        for (int r = 0; r < 20; r++)
                result += (double)turned(tagged);
        return 0;
}
END

# gcc last: its recording is looked at once more.
for compiler in clang gcc; do
        "$compiler" -g -O2 -o rivals rivals.c
        "$MEMLAG" record --force -o rivals.db $LOADS --period 37 --ldlat 1 \
                -- ./rivals >out 2>&1 || fail "$(cat out)"
        wrong=$(sqlite3 -readonly rivals.db "
                WITH said AS (SELECT v.function, v.type, v.field, a.object_offset_bytes AS at
                        FROM sample_view v JOIN attribution a USING (sample_id)
                        WHERE v.object_kind = 'heap' AND v.field IS NOT NULL)
                SELECT count(*) FROM said
                WHERE (function IN ('cases', 'both', 'calls', 'value', 'next', 'end',
                                'compare') AND
                        type <> 'struct ' || substr('abc', 1 + at / 16 * 7 % 3, 1)) OR
                        (function = 'turned' AND type IN ('struct c', 'struct d')) OR
                        (function = 'moved' AND field NOT IN ('family', 'scope') AND
                        type <> CASE WHEN at / 128 % 2 THEN 'struct in4'
                                ELSE 'struct in6' END)")
        [ "$wrong" = 0 ] || fail "$compiler: $wrong samples have the type of another case"
done
# What one case alone reads, and what decides which it is, has its pointer's type.
sqlite3 -readonly rivals.db "SELECT DISTINCT function, type, field FROM sample_view" >said
for row in 'cases|struct c|cv' 'moved|struct in6|scope' 'moved|struct in4|family'; do
        grep -qxF "$row" said || fail "gcc: $row is not told"
done

# Of a case whose code gcc has joined with another's no variable is left: that is declared
# nowhere, or as null and nothing else, or only in the function that was inlined. Object number i is a struct a, b or c, by
# the rest of i / 3.
cat >lost.c <<'END'
#include <stdint.h>
#include <stdlib.h>
enum { N = 4000, SIZE = 64 };
struct a { long a1; int a2, a3; double a4; };
struct b { long b1; int b2, b3; double b4; };
struct c { long c1; int c2, c3; double c4; };
static void *obj[N];
static uint8_t kind[N];
static volatile double result;
#define READS __attribute__((noipa)) static
#define INLINED static inline __attribute__((always_inline))
INLINED int inlined_if(const void *p, int k)
{
        if (k == 0) { const struct a *a = p; return a->a2; }
        if (k == 1) { const struct b *b = p; return b->b2; }
        return 0;
}
READS long by_if(int i)
{
        long s = 0;
        for (int j = i; j < i + 8 && j < N; j++)
                s += inlined_if(obj[j], kind[j]);
        return s;
}
INLINED long inlined_switch(void *p, int k)
{
        long s = 0;
        switch (k) {
        case 0: { struct a *a = p; s = a->a1 + a->a2; break; }
        case 1: { struct b *b = p; s = b->b1 + b->b2; break; }
        case 2: { struct c *c = p; s = c->c1 * 3; break; }
        }
        return s;
}
READS long by_switch(int i) { return inlined_switch(obj[i], kind[i]) & 255; }
READS long in_loop(int i)
{
        long s = 0;
        for (int j = i; j < i + 8 && j < N; j++)
                s ^= inlined_switch(obj[j], kind[j]);
        return s;
}
READS long by_constant(int i) { return inlined_switch(obj[i], 1) + inlined_if(obj[i], 1); }
READS long returned(void *p, int k)
{
        if (k == 0) { struct a *a = p; if (a->a2) return a->a1; return 5; }
        if (k == 1) { struct b *b = p; if (b->b2) return b->b1; return 5; }
        return 0;
}
READS double chosen(struct a *p, int k)
{
        double d = 0;
        struct c *c = NULL;
        struct b *b = NULL;
        struct a *a = NULL;
        if (k == 2)
                c = (struct c *)p;
        if (k == 1)
                b = (struct b *)p;
        if (k == 0)
                a = p;
        if (c) d += c->c4;
        if (b) d += b->b4;
        if (a) d += a->a4;
        return d;
}
INLINED long inlined_null(struct a *p, int k)
{
        struct b *b = k == 1 ? (struct b *)p : NULL;
        struct a *a = k == 0 ? p : NULL;
        if (b)
                return b->b3;
        else if (a)
                return a->a3;
        return 0;
}
READS double null_in_loop(int i)
{
        double d = 0;
        for (int j = i; j < i + 4 && j < N; j++)
                d += (double)inlined_null(obj[j], kind[j]);
        return d;
}
READS long or_null(int i)
{
        long s = 0;
        for (int j = i; j < i + 8 && j < N; j++) {
                struct a *a = kind[j] == 0 ? obj[j] : NULL;
                if (a) { s += a->a1 + a->a3; continue; }
                struct b *b = kind[j] == 1 ? obj[j] : NULL;
                if (b) s += b->b1 + b->b3;
        }
        return s;
}
int main(void)
{
        char *pool = calloc(N, SIZE);
        for (int i = 0; i < N; i++) {
                obj[i] = pool + (size_t)i * SIZE;
                kind[i] = (uint8_t)(i % 3);
                ((struct a *)obj[i])->a2 = i & 1;
        }
        for (int r = 0; r < 2; r++)
                for (int at = 0; at < N; at++) {
                        int i = (int)(at * 7919L % N);
                        result += by_if(i) + by_switch(i) + in_loop(i) + or_null(i) +
                                  returned(obj[i], kind[i]) + chosen(obj[i], kind[i]) +
                                  null_in_loop(i);
                        if (kind[i] == 1)
                                result += by_constant(i);
                }
        return 0;
}
END

for option in -O1 -O2 -O3; do
        gcc -g "$option" -o lost lost.c
        "$MEMLAG" record --force -o lost.db $LOADS --period 7 --ldlat 1 -- ./lost \
                >out 2>&1 || fail "$(cat out)"
        wrong=$(sqlite3 -readonly lost.db "SELECT function, field, count(*) FROM sample_view
                JOIN attribution USING (sample_id)
                WHERE object_kind = 'heap' AND object LIKE 'main at %' AND function <> 'main' AND
                field NOT LIKE substr('abc', 1 + object_offset_bytes / 64 % 3, 1) || '%'
                GROUP BY 1, 2")
        [ -z "$wrong" ] || fail "gcc $option: lost variables' reads are said to be $wrong"
done
# Nothing is joined where the case is known when the function is inlined, or in the third case.
sqlite3 -readonly lost.db "SELECT function || '|' || field FROM sample_view
        WHERE object_kind = 'heap' GROUP BY 1 HAVING count(*) > 100" >said
for row in 'inlined_switch|c1' 'inlined_switch|b1'; do
        grep -qxF "$row" said || fail "gcc: $row is not told, but $(cat said)"
done
