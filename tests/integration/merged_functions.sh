#!/bin/sh
# SPDX-License-Identifier: MIT
# gcc, and linkers with --icf=all, fold functions with equal instructions into one. Debug
# information then describes one of the functions there, or both. Blocks that it allocates have its
# callers' types. Its reads of blocks of unknown type are unresolved.
. "$SOURCE_DIR/tests/integration/library.sh"

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
#define WALKS_OF(side, link) \
        ONCE void walk_##side(struct side *at) \
        { \
                long sum = 0; \
                for (; at; at = at->link) \
                        sum += at->side; \
                result += sum; \
        }
WALKS_OF(west, next)
WALKS_OF(east, after)
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
#define NEW(name, type) \
        ONCE type *name(void) \
        { \
                type *new = malloc(sizeof *new); \
                if (!new) \
                        abort(); \
                return new; \
        }
NEW(new_left, struct big_left)
NEW(new_right, struct right)
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

# check NAME: the functions' reads are reported as EXPECTED.
check()
{
        record "$1" $LOADS --period 7 -- "./$1"
        holds "$1.db" "$expected" "SELECT substr(function, 1, 5) || CASE
                WHEN function LIKE 'read%' THEN substr(function, 6) ELSE '' END,
                coalesce(type || '.' || field, 'open'), count(*) > 100 FROM sample_view
                WHERE object_kind = 'heap' AND (function LIKE 'read_%' OR function LIKE 'walk_%')
                GROUP BY 1, 2 HAVING count(*) > 20"
        holds "$1.db" "$2" "SELECT coalesce(sum(value), 0) > 100 FROM ledger
                WHERE kind = 'samples with no type: function of several types'"
}

expected="read_lefts|struct big_left.left[]|1
read_rights|struct right.right|1"
gcc -g -O2 -o merged_gcc merged.c
expect "gcc's functions" "$(nm merged_gcc | grep -E ' new_(left|right)$' | cut -d' ' -f1 | uniq | wc -l)" 1
check merged_gcc 0
expected="$expected
walk_|open|1"
for linker in gold lld; do
        has "ld.$linker" || continue
        gcc -g -O2 -DLINKER -ffunction-sections "-fuse-ld=$linker" -Wl,--icf=all \
                -o "merged_$linker" merged.c
        check "merged_$linker" 1
done

# Functions of two units; only one runs. Programs of distributions have no .comment that names the
# linker; their debug information does.
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
expect "LLD's functions" "$(nm units | grep -E ' read_(first|second)$' | cut -d' ' -f1 | uniq | wc -l)" 1
objcopy --remove-section=.comment units uncommented
cp units stripped
objcopy --only-keep-debug stripped stripped.debug
strip --remove-section=.comment stripped
objcopy --add-gnu-debuglink=stripped.debug stripped
gcc -g -O2 -o separate units.c first.c second.c
for program in units uncommented stripped separate; do
        record "$program" $LOADS --period 7 -- "./$program"
        expected="open|1"
        [ "$program" = separate ] && expected="struct second.next|1
struct second.second|1"
        holds "$program.db" "$expected" "SELECT coalesce(type || '.' || field, 'open'), count(*) > 100
                FROM sample_view WHERE object_kind = 'heap' AND function LIKE 'read_%' GROUP BY 1"
done
