#!/bin/sh
# SPDX-License-Identifier: MIT
# Code that is made while the program runs is called what its maker's list calls it.
set -eu

fail()
{
        echo "perf_map.sh: $*" >&2
        exit 1
}

cat >jit.c <<'END_C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
struct node { struct node *next; long pad[30]; };
static struct node nodes[200003];
int main(void)
{
        /* 1: mov (%rdi),%rdi; dec %rsi; jnz 1b; mov %rdi,%rax; ret */
        static const unsigned char chase[] = {0x48, 0x8b, 0x3f, 0x48, 0xff, 0xce, 0x75, 0xf8,
                                              0x48, 0x89, 0xf8, 0xc3};
        unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char path[64];
        memcpy(code + 256, chase, sizeof(chase));
        snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
        FILE *list = fopen(path, "w");
        fprintf(list, "%lx 100 before it\n%lx %zx made to chase\n", (unsigned long)code,
                (unsigned long)code + 256, sizeof(chase));
        fclose(list);
        puts(path);
        for (size_t i = 0; i < 200003; i++)
                nodes[i].next = &nodes[(i * 7919 + 13) % 200003];
        struct node *(*made)(struct node *, long) = (void *)(code + 256);
        return !made(nodes, 300000);
}
END_C
"$CC" -g -O1 -o jit jit.c
"$MEMLAG" record -o t.db -- ./jit >out
list=$(head -1 out)
trap 'rm -f "$list"' EXIT
samples=$(sqlite3 t.db "SELECT count(*) FROM sample_view WHERE function = 'made to chase'")
[ "$samples" -gt 300 ] || fail "$samples samples in the code that was made"

# A list that has changed since is read again, one that has not is not.
sed -i 's/made to chase/made again/' "$list"
"$MEMLAG" symbolize t.db
[ "$(sqlite3 t.db "SELECT count(*) FROM sample_view WHERE function = 'made again'")" = \
        "$samples" ] || fail "a changed list was not noticed"
sqlite3 t.db "UPDATE location SET function = 'kept' WHERE function = 'made again'"
"$MEMLAG" symbolize t.db
[ "$(sqlite3 t.db "SELECT count(*) FROM sample_view WHERE function = 'kept'")" = \
        "$samples" ] || fail "a second run has named everything again"

# One that an earlier process of this number has left is not believed, and that is said:
# one that is older than the run, or, where time is real, than the process.
older="SELECT total(value) FROM ledger WHERE kind = 'perf maps of earlier processes'"
began=$(sqlite3 t.db "SELECT strftime('%s', value) FROM run WHERE key = 'start'")
cp t.db real.db
sqlite3 real.db "UPDATE run SET value = 'measured' WHERE key = 'numbers';
        UPDATE process SET start_ns = 10000000000"
for case in "t.db -1 1.0" "t.db 0 0.0" "real.db 9 1.0" "real.db 10 0.0"; do
        # shellcheck disable=SC2086 # three words
        set -- $case
        touch -d "@$((began + $2))" "$list"
        "$MEMLAG" symbolize "$1"
        [ "$(sqlite3 "$1" "$older")" = "$3" ] || fail "the ledger is wrong for $case"
        named=$(sqlite3 "$1" "SELECT count(*) FROM sample_view WHERE function = 'made again'")
        [ "$3" = 1.0 ] && wanted=0 || wanted=$samples
        [ "$named" = "$wanted" ] || fail "$named samples named by the list, $case"
done
sqlite3 real.db "UPDATE process SET start_ns = 0" # it was there before the run
touch -d 2001-01-01 "$list"
"$MEMLAG" symbolize real.db
[ "$(sqlite3 real.db "$older")" = 0.0 ] || fail "when the process began is not known"

# Another's list is not believed, and nothing waits for a FIFO.
rm -f "$list"
mkfifo "$list"
timeout 20 "$MEMLAG" symbolize --debuginfo-path=. t.db || fail "a FIFO in place of a list"
[ "$(sqlite3 t.db "SELECT outcome FROM resolution WHERE subject = 'function'
        AND outcome <> 'resolved'")" = "memory of no file" ] || fail "the account is wrong"
