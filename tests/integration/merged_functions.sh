#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of the same instructions become one, by gcc and by linkers that are told to
# (--icf=all): debug information describes one of them there, or both, or the other without
# code, where gcc has made a copy of the one. Blocks that it
# allocates are what its callers want, and what it reads of blocks of no known type is open.
set -eu

fail()
{
        echo "merged_functions.sh: $*" >&2
        exit 1
}

cat >merged.c <<'END'
#include <stdlib.h>
struct left { struct left *next; long left; };
struct right { struct right *after; double none[2]; long right; };
struct big_left { struct big_left *next; long left[3]; };
enum { ITEMS = 2000 };
static volatile long result;
static long *lefts[ITEMS], *rights[ITEMS];
static char *pool; /* blocks of no type */
#define ONCE __attribute__((noinline)) static
#define READS(name, from, at) \
        ONCE void name(void) \
        { \
                long sum = 0; \
                for (int i = 0; i < ITEMS; i++) \
                        sum += from[i][at]; \
                result += sum; \
        }
READS(read_lefts, lefts, 1)
READS(read_rights, rights, 3)
#ifdef LINKER /* the same walks and allocations */
struct west { struct west *next; long west; };
struct east { struct east *after; long east; };
ONCE void walk_west(struct west *at)
{
        long sum = 0;
        for (; at; at = at->next)
                sum += at->west;
        result += sum;
}
ONCE void walk_east(struct east *at)
{
        long sum = 0;
        for (; at; at = at->after)
                sum += at->east;
        result += sum;
}
#define WALKS \
        struct west *west = NULL; \
        struct east *east = NULL; \
        for (int i = 0; i < ITEMS; i++) { \
                struct west *w = take(); \
                w->next = west; \
                w->west = i; \
                west = w; \
                struct east *e = take(); \
                e->after = east; \
                e->east = i; \
                east = e; \
        }
#define WALK walk_west(west); walk_east(east);
#else
#define WALKS
#define WALK
#endif
ONCE struct big_left *new_left(void)
{
        struct big_left *new = malloc(sizeof *new);
        if (!new)
                abort();
        return new;
}
ONCE struct right *new_right(void)
{
        struct right *new = malloc(sizeof *new);
        if (!new)
                abort();
        return new;
}
static void *take(void)
{
        pool += 32;
        return pool - 32;
}
int main(void)
{
        pool = malloc(ITEMS * 64);
        WALKS
        for (int i = 0; i < ITEMS; i++) {
                struct big_left *left = new_left();
                left->left[0] = i;
                lefts[i] = (long *)left;
                struct right *right = new_right();
                right->right = i;
                rights[i] = (long *)right;
        }
        for (int i = 0; i < 10; i++) {
                read_lefts();
                read_rights();
                WALK
        }
}
END

# check NAME: what the functions read is said to be as EXPECTED.
check()
{
        "$MEMLAG" record -o "$1.db" $LOADS --period 7 -- "./$1" >"$1.out" 2>&1 ||
                fail "$1: $(cat "$1.out")"
        said=$(sqlite3 -readonly "$1.db" "SELECT substr(function, 1, 5) || CASE
                WHEN function LIKE 'read%' THEN substr(function, 6) ELSE '' END,
                coalesce(type || '.' || field, 'open'), count(*) > 100 FROM sample_view
                WHERE object_kind = 'heap' AND (function LIKE 'read_%' OR function LIKE 'walk_%')
                GROUP BY 1, 2")
        [ "$said" = "$expected" ] || fail "$1: the blocks are said to be $said"
        merged=$(sqlite3 -readonly "$1.db" "SELECT coalesce(sum(value), 0) > 100 FROM ledger
                WHERE kind = 'samples with no type: function of several types'")
        [ "$merged" = "$2" ] || fail "$1: the reason is not in the ledger"
}

expected="read_lefts|struct big_left.left[]|1
read_rights|struct right.right|1"
gcc -g -O2 -o merged_gcc merged.c
[ "$(nm merged_gcc | grep -E ' new_(left|right)$' | cut -d' ' -f1 | uniq | wc -l)" -eq 1 ] ||
        fail "gcc has not merged the functions"
check merged_gcc 0
expected="$expected
walk_|open|1"
for linker in gold lld; do
        if ! command -v "ld.$linker" >/dev/null; then
                echo "merged_functions.sh: SKIPPED: $linker is not installed" >&2
                continue
        fi
        gcc -g -O2 -DLINKER -ffunction-sections "-fuse-ld=$linker" -Wl,--icf=all \
                -o "merged_$linker" merged.c
        check "merged_$linker" 1
done

# Functions of two units, of which only one is run. Programs of distributions have no comment,
# which names the linker; it is in their debug information.
for unit in first second; do
        cat >"$unit.c" <<END
struct $unit { struct $unit *next; long $unit; };
long read_$unit(const struct $unit *at);
long read_$unit(const struct $unit *at)
{
        long sum = 0;
        for (; at; at = at->next)
                sum += at->$unit;
        return sum;
}
END
done
cat >units.c <<'END'
#include <stdlib.h>
struct second { struct second *next; long second; };
struct first;
long read_first(const struct first *at);
long read_second(const struct second *at);
static char *pool; /* a block of no type */
__attribute__((noinline)) static void *take(void)
{
        pool += 32;
        return pool - 32;
}
int main(int argc, char **argv)
{
        enum { ITEMS = 2000 };
        pool = malloc(ITEMS * 32);
        struct second *list = NULL;
        long sum = argc > 1 ? read_first((void *)argv) : 0;
        for (int i = 0; i < ITEMS; i++) {
                struct second *new = take();
                new->next = list;
                new->second = i;
                list = new;
        }
        for (int i = 0; i < 20; i++)
                sum += read_second(list);
        return sum == 0;
}
END
gcc -g -O2 -ffunction-sections -fuse-ld=lld -Wl,--icf=all -o units units.c first.c second.c
[ "$(nm units | grep -E ' read_(first|second)$' | cut -d' ' -f1 | uniq | wc -l)" -eq 1 ] ||
        fail "LLD has not merged the functions of two units"
objcopy --remove-section=.comment units uncommented
cp units stripped
objcopy --only-keep-debug stripped stripped.debug
strip --remove-section=.comment stripped
objcopy --add-gnu-debuglink=stripped.debug stripped
gcc -g -O2 -o separate units.c first.c second.c
for program in units uncommented stripped separate; do
        "$MEMLAG" record -o "$program.db" $LOADS --period 7 -- "./$program" \
                >"$program.out" 2>&1 || fail "$program: $(cat "$program.out")"
        said=$(sqlite3 -readonly "$program.db" "SELECT coalesce(type || '.' || field, 'open'),
                count(*) > 100 FROM sample_view
                WHERE object_kind = 'heap' AND function LIKE 'read_%' GROUP BY 1")
        expected="open|1"
        [ "$program" = separate ] && expected="struct second.next|1
struct second.second|1"
        [ "$said" = "$expected" ] || fail "$program: the blocks of two units are said to be $said"
done

# What only its file knows has no symbol any more where gold has folded it; its name may be the
# other's.
for unit in first second; do
        { [ "$unit" = first ] || echo; cat; } >"walk_$unit.c" <<END
struct $unit { struct $unit *next; long $unit; };
__attribute__((noinline)) static long walk(struct $unit *at)
{
        long sum = 0;
        for (; at; at = at->next)
                sum += at->$unit;
        return sum;
}
long run_$unit(void *pool, int count);
long run_$unit(void *pool, int count)
{
        struct $unit *list = 0;
        for (int i = 0; i < count; i++) {
                struct $unit *new = (void *)((char *)pool + i * 32);
                *new = (struct $unit){list, i};
                list = new;
        }
        long sum = $([ "$unit" = first ] && echo 1 || echo 2);
        for (int i = 0; i < 20; i++)
                sum += walk(list);
        return sum;
}
END
done
cat >walks.c <<'END'
#include <stdlib.h>
long run_first(void *pool, int count);
long run_second(void *pool, int count);
int main(void)
{
        void *pool = malloc(2000 * 32);
        return run_first(pool, 2000) + run_second(pool, 2000) == 0;
}
END
if command -v ld.gold >/dev/null; then
        gcc -g -O2 -ffunction-sections -fuse-ld=gold -Wl,--icf=all -o walks walks.c walk_first.c walk_second.c
        [ "$(nm walks | grep -c ' walk$')" -eq 1 ] ||
                fail "gold has not merged the functions of two files"
fi
gcc -g -O2 -o apart walks.c walk_first.c walk_second.c

# In a program optimised as a whole the symbols of both are left, of one name but for what
# tells the files. (Later versions of gcc merge only what types do not keep apart.)
lto="-O2 -fno-strict-aliasing -flto"
cat >pools.c <<'END'
#include <stdlib.h>
long run_first(void *pool, int count);
long run_second(void *pool, int count);
static char *pool;
__attribute__((noinline)) static char *take(int at)
{
        return pool + at;
}
int main(void)
{
        pool = malloc(2000 * 64);
        return run_first(take(0), 2000) + run_second(take(64000), 2000) == 0;
}
END
gcc -g $lto -o twins pools.c walk_first.c walk_second.c
[ "$(nm twins | grep ' t walk' | cut -d' ' -f1 | uniq -c | awk '{ print $1 }')" = 2 ] ||
        fail "gcc has not merged the functions of two files: $(nm twins)"
clang -g -O2 -flto -fuse-ld=lld -Wl,--icf=all -o llvm_twins pools.c walk_first.c walk_second.c
[ "$(nm llvm_twins | grep ' t walk' | cut -d' ' -f1 | uniq -c | awk '{ print $1 }')" = 2 ] ||
        fail "LLD has not merged the functions of two files: $(nm llvm_twins)"
# Of what gcc then copied no symbol is left, and an entry in another unit.
for unit in first second; do
        sed 's/walk(struct \(.*\) \*at)/walk(struct \1 *at, long by)/; s/walk(list)/walk(list, 3)/
             s/\(sum += at->.*\);/\1 * by;/' "walk_$unit.c" >"copied_$unit.c"
done
gcc -g $lto -o copied_twins pools.c copied_first.c copied_second.c
[ "$(nm copied_twins | grep -c ' t walk.*\.constprop\.0$')" -eq 1 ] ||
        fail "gcc has not merged what it copied of two files: $(nm copied_twins)"

# Of functions that gcc merged, and then made a copy of, no symbol is left.
cat >copies.c <<'END'
#include <stdlib.h>
#include <string.h>
struct left { long a[2], left[2]; };
struct right { long b[3], right; };
struct big_left { struct big_left *next; double none[2]; long left; };
struct big_right { struct big_right *after; long none[2]; long right; };
enum { ITEMS = 2000 };
static volatile long result;
static struct left *lefts[ITEMS];
static struct right *rights[ITEMS];
static long *big_lefts[ITEMS], *big_rights[ITEMS];
#define ONCE __attribute__((noinline)) static
#define WALK(name, type) \
        ONCE long name(struct type *at, long by) \
        { \
                long *p = (long *)at; \
                if (by & 1) \
                        p++; \
                return p[1] * by + p[2]; \
        }
WALK(walk_left, left)
WALK(walk_right, right)
#define NEW(type) \
        ONCE struct type *new_##type(size_t more) \
        { \
                struct type *new = malloc(sizeof *new + more); \
                if (!new) \
                        abort(); \
                return new; \
        }
NEW(big_left)
NEW(big_right)
#define READ(name, from, by) \
        ONCE void name(void) \
        { \
                long sum = 0; \
                for (int i = 0; i < ITEMS; i++) \
                        sum += from[i][3] * by; \
                result += sum; \
        }
READ(read_lefts, big_lefts, 3)
READ(read_rights, big_rights, 5)
int main(void)
{
        char *pool = malloc(ITEMS * 64);
        for (int i = 0; i < ITEMS; i++) {
                lefts[i] = memset(pool + 64 * i, 0, 32);
                rights[i] = memset(pool + 64 * i + 32, 0, 32);
                struct big_left *left = new_big_left(0);
                left->left = i;
                big_lefts[i] = (long *)left;
                struct big_right *right = new_big_right(0);
                right->right = i;
                big_rights[i] = (long *)right;
        }
        for (int round = 0; round < 20; round++) {
                for (int i = 0; i < ITEMS; i++)
                        result += walk_left(lefts[i], 3) + walk_right(rights[i], 3);
                read_lefts();
                read_rights();
        }
}
END
gcc -g -O2 -o copies copies.c
[ "$(nm copies | grep -cE ' (walk|new_big)_(left|right)\.constprop\.0$')" -eq 2 ] ||
        fail "gcc has not merged what it copied: $(nm copies)"
# Nor in a program that is optimised as a whole, where all code is described apart from what
# it was made of: a function without code is one that is used nowhere (not: apart, within).
gcc -g -O3 -flto -o whole copies.c
[ "$(nm whole | grep -cE ' walk_(left|right)\.constprop\.0$')" -eq 1 ] ||
        fail "gcc has not merged what it copied of a whole program: $(nm whole)"
cat >single.c <<'END'
#include <stdlib.h>
struct left { long a[2], left[2]; };
enum { ITEMS = 2000 };
static struct left *lefts[ITEMS];
#define SUM(name, field) \
        static long name(struct left **from, long by) \
        { \
                long sum = 0; \
                for (int i = 0; i < ITEMS; i++) \
                        sum += from[i]->field * by; \
                return sum; \
        }
__attribute__((noinline)) SUM(walk, left[0])
__attribute__((noinline)) SUM(apart, a[1])
SUM(within, a[0])
int main(int argc, char **argv)
{
        char *pool = calloc(ITEMS, 32);
        long sum = 0;
        (void)argv;
        for (int i = 0; i < ITEMS; i++)
                lefts[i] = (struct left *)(pool + 32 * i);
        for (int round = 0; round < 20; round++)
                sum += walk(lefts, 3) + apart(lefts, argc) + within(lefts, round);
        return sum != 0;
}
END
gcc -g -O3 -flto -o single single.c
nm single | grep -q ' walk\.constprop\.' || fail "gcc has made no copy: $(nm single)"
# Of functions that g++ gives no name for linking (instances of templates over what one file
# knows) only the symbols tell of which types they are.
cat >instances.cc <<'END'
#include <cstdlib>
namespace {
struct left { left *next; long left; };
struct right { right *after; long right; };
enum { ITEMS = 2000 };
long *all[ITEMS];
volatile long result;
template <class T> __attribute__((noinline)) T *fresh()
{
        T *block = static_cast<T *>(malloc(sizeof(T)));
        if (!block)
                abort();
        return block;
}
__attribute__((noinline)) void read_all()
{
        long sum = 0;
        for (int i = 0; i < ITEMS; i++)
                sum += all[i][1];
        result += sum;
}
}
int main()
{
        for (int i = 0; i < ITEMS; i += 2) {
                all[i] = reinterpret_cast<long *>(fresh<left>());
                all[i + 1] = reinterpret_cast<long *>(fresh<right>());
                all[i][1] = all[i + 1][1] = i;
        }
        for (int i = 0; i < 20; i++)
                read_all();
}
END
g++ -g -O2 -o instances instances.cc
[ "$(nm instances | grep ' t .*fresh.*v$' | cut -d' ' -f1 | uniq -c | awk '{ print $1 }')" = 2 ] ||
        fail "g++ has not merged the instances: $(nm instances)"
while read -r program expected; do
        [ -e "$program" ] || continue # gold's
        "$MEMLAG" record -o "$program.db" $LOADS --period 7 -- "./$program" \
                >"$program.out" 2>&1 || fail "$program: $(cat "$program.out")"
        said=$(sqlite3 -readonly "$program.db" "SELECT group_concat(said, ' ') FROM
                (SELECT CASE WHEN function LIKE 'walk%' THEN 'walk' ELSE function END || '=' ||
                replace(coalesce(type || '.' || field, 'open'), 'struct ', '') AS said
                FROM sample_view WHERE object_kind = 'heap' AND
                (function LIKE 'walk%' OR function LIKE '%read_%') GROUP BY 1
                HAVING count(*) > 100 ORDER BY 1)")
        [ "$said" = "$expected" ] || fail "$program: the blocks are said to be $said"
done <<'END'
walks walk=open
instances (anonymous namespace)::read_all=open
twins walk=open
llvm_twins walk=open
copied_twins walk=open
apart walk=first.first walk=first.next walk=second.next walk=second.second
copies read_lefts=big_left.left read_rights=big_right.right walk=open
whole read_lefts=big_left.left read_rights=big_right.right walk=open
single walk=left.left[]
END
