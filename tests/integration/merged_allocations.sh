#!/bin/sh
# SPDX-License-Identifier: MIT
# clang makes one call of two branches' allocations of one size. What it returns is one type
# on one way and another on the other: nothing is known of the blocks, and what reads them by
# a pointer of a number's type is open.
set -eu

fail()
{
        echo "merged_allocations.sh: $*" >&2
        exit 1
}

if ! command -v clang >/dev/null; then
        echo "merged_allocations.sh: SKIPPED: clang is not installed" >&2
        exit 77
fi
cat >merged.c <<'END'
#include <stdlib.h>
struct head { long kind, id; };
struct width { struct head head; long width; double pad; };
struct ticks { struct head head; long ticks; double pad; };
enum { COUNT = 5000 };
static struct head *all[COUNT];
static long *plain[COUNT];
__attribute__((noinline)) static long numbers(void) /* all of struct ticks */
{
        long sum = 0;
        for (int i = 0; i < COUNT; i += 2)
                sum += plain[i][2] * 5;
        return sum;
}
__attribute__((noinline)) static long heads(void)
{
        long sum = 0;
        for (int i = 0; i < COUNT; i++)
                sum += all[i]->id * 3;
        return sum;
}
int main(void)
{
        long sum = 0;
        for (int i = 0; i < COUNT; i++) {
                if (i & 1) {
                        struct width *d = malloc(sizeof *d);
                        d->width = i;
                        d->head = (struct head){1, i};
                        all[i] = &d->head;
                } else {
                        struct ticks *d = malloc(sizeof *d);
                        d->ticks = i;
                        d->head = (struct head){2, i};
                        all[i] = &d->head;
                }
                plain[i] = (long *)all[i];
        }
        for (int i = 0; i < 20; i++)
                sum += numbers() + heads();
        return sum == 1;
}
END
clang -g -O2 -o merged merged.c
[ "$(objdump -d --no-show-raw-insn merged | grep -c 'call.*<malloc@plt>')" -eq 1 ] ||
        fail "clang has not merged the calls"
"$MEMLAG" record -o merged.db --source sim --period 7 -- ./merged >merged.out 2>&1 ||
        fail "$(cat merged.out)"
said=$(sqlite3 -readonly merged.db "SELECT function, coalesce(type || '.' || field, 'open'),
        count(*) > 100 FROM sample_view
        WHERE function IN ('numbers', 'heads') AND object_kind = 'heap' GROUP BY 1, 2")
[ "$said" = "heads|struct head.id|1
numbers|open|1" ] || fail "the blocks are said to be $said"
