#!/bin/sh
# SPDX-License-Identifier: MIT
# Compilers make one call of two branches' allocations of one size. What it returns is one
# type on one way and another on the other, or only one of them says what it has got: nothing
# is known of the blocks, and what reads them by a pointer of a number's type is open.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >blocks.h <<'END'
#include <stdlib.h>
struct head { long kind, id; };
struct width { struct head head; long width; double pad; };
struct ticks { struct head head; long ticks; double pad; };
enum { COUNT = 3000 };
static struct head *all[COUNT]; /* in turns struct ticks and struct width */
static long *plain[COUNT];
static volatile long step, result;
#define READS(name, from, of) \
        __attribute__((noinline)) static void name(void) \
        { \
                long sum = 0; \
                for (int i = from; i < COUNT; i += 2) \
                        sum += of; \
                result += sum; \
        }
READS(read_ticks, 0, plain[i][2] * 5)
READS(read_widths, 1, plain[i][2] * 7)
READS(read_heads, 0, all[i]->id * 3)
static inline void note(int i, void *block)
{
        all[i] = (struct head *)block;
        plain[i] = (long *)block;
}
static inline void read_all(void)
{
        for (int i = 0; i < 20; i++) {
                read_ticks();
                read_widths();
                read_heads();
        }
}
END
cat >both.c <<'END'
#include "blocks.h"
int main(void)
{
        for (int i = 0; i < COUNT; i++) {
                if (i & 1) {
                        struct width *d = malloc(sizeof *d);
                        d->width = i;
                        d->head = (struct head){1, i};
                        note(i, d);
                } else {
                        struct ticks *d = malloc(sizeof *d);
                        d->ticks = i;
                        d->head = (struct head){2, i};
                        note(i, d);
                }
        }
        read_all();
}
END
cat >ends.c <<'END'
#include "blocks.h"
__attribute__((noinline)) static void *make(int i)
{
        if (i & 1) {
                struct width *d = malloc(sizeof *d);
                d->width = i;
                return d;
        } else {
                struct ticks *d = malloc(sizeof *d);
                d->ticks = i;
                return d;
        }
}
int main(void)
{
        for (int i = 0; i < COUNT; i++)
                note(i, make(i));
        read_all();
}
END
# The other branch has but a pointer to void, or none.
cat >untold.c <<'END'
#include "blocks.h"
__attribute__((noinline)) static void *make(int i)
{
        if (!(i & 1)) {
                void *d = malloc(sizeof(struct ticks));
                ((long *)d)[2] = i;
                return d;
        } else {
                struct width *d = malloc(sizeof *d);
                d->width = i;
                return d;
        }
}
int main(void)
{
        for (int i = 0; i < COUNT; i++)
                note(i, make(i));
        read_all();
}
END
# check PROGRAM COMPILER OPTION: where the calls are merged, what reads the blocks as numbers
# has no type, and what reads them by a pointer to struct head has that.
check()
{
        name=$1_$2$3
        "$2" -g "$3" -o "$name" "$1.c"
        [ "$(objdump -d --no-show-raw-insn "$name" | grep -c 'call.*<malloc@plt>')" -eq 1 ] ||
                fail "$name: $2 has not merged the calls"
        record "$name" $LOADS --period 7 -- "./$name"
        said=$(sqlite3 -readonly "$name.db" "SELECT function, coalesce(type || '.' || field, 'open'),
                count(*) > 100 FROM sample_view
                WHERE function LIKE 'read_%' AND object_kind = 'heap' GROUP BY 1, 2")
        [ "$said" = "read_heads|struct head.id|1
read_ticks|open|1
read_widths|open|1" ] || fail "$name: the blocks are said to be $said"
}

# What gcc merges keeps the line and the variables of one branch.
check ends gcc -O2
check untold gcc -O2
# Of the other branch's variable is left that it is nowhere, in code that leads to the call.
cat >nowhere.cc <<'END'
extern "C" {
#include "blocks.h"
}
__attribute__((noinline)) static void *make(int i)
{
        if (i & 1) {
                width *a = new width;
                a->width = i;
                return a;
        }
        ticks *b = new ticks;
        b->ticks = i;
        return b;
}
int main()
{
        for (int i = 0; i < COUNT; i++)
                note(i, make(i));
        read_all();
}
END
g++ -g -O2 -o nowhere nowhere.cc
[ "$(objdump -d --no-show-raw-insn nowhere | grep -c 'call.*<_Znwm@plt>')" -eq 1 ] ||
        fail "g++ has not merged the calls"
record nowhere $LOADS --period 7 -- ./nowhere
said=$(sqlite3 -readonly nowhere.db "SELECT function, coalesce(type || '.' || field, 'open'),
        count(*) > 100 FROM sample_view
        WHERE function LIKE 'read_%' AND object_kind = 'heap' GROUP BY 1, 2")
[ "$said" = "read_heads|head.id|1
read_ticks|open|1
read_widths|open|1" ] || fail "nowhere: the blocks are said to be $said"
if ! command -v clang >/dev/null; then
        skip "clang is not installed"
fi
# A call that LLVM merges has no line.
check both clang -O2
