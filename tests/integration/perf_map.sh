#!/bin/sh
# SPDX-License-Identifier: MIT
# Code that is made while the program runs is called what its maker's list calls it.
. "$SOURCE_DIR/tests/integration/library.sh"

program jit <<'END_C'
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
        /* Memory of a function that is gone is used again. */
        fprintf(list, "%lx 100 before it\n%lx 20 gone\n%lx %zx made to chase\n",
                (unsigned long)code, (unsigned long)code + 254, (unsigned long)code + 250,
                sizeof(chase) + 6);
        fclose(list);
        puts(path);
        for (size_t i = 0; i < 200003; i++)
                nodes[i].next = &nodes[(i * 7919 + 13) % 200003];
        struct node *(*made)(struct node *, long) = (void *)(code + 256);
        return !made(nodes, 300000);
}
END_C
"$MEMLAG" record --period 499 -o t.db -- ./jit >out
list=$(head -1 out)
trap 'rm -f "$list"' EXIT
samples=$(sqlite3 t.db "SELECT count(*) FROM sample_view WHERE function = 'made to chase'")
[ "$samples" -gt 300 ] || fail "$samples samples in the code that was made"

# A changed list is read again, an unchanged one is not. Its time is within the run: a later list
# belongs to another process.
began=$(sqlite3 t.db "SELECT strftime('%s', value) FROM run WHERE key = 'start'")
sed -i 's/made to chase/made again/' "$list"
touch -d "@$began" "$list"
"$MEMLAG" symbolize t.db
holds t.db "$samples" "SELECT count(*) FROM sample_view WHERE function = 'made again'"
sqlite3 t.db "UPDATE name SET text = 'kept' WHERE text = 'made again'"
"$MEMLAG" symbolize t.db
holds t.db "$samples" "SELECT count(*) FROM sample_view WHERE function = 'kept'"

# The list of another process with this number is refused, with a message. Such a list is older than
# the run or, in real time, than the process. Or it was written after the end of the run or process.
ended=$(sqlite3 t.db "SELECT strftime('%s', value) FROM run WHERE key = 'end'")
changed t.db real.db "UPDATE run SET value = 'measured' WHERE key = 'numbers';
        UPDATE process SET start_ns = 10000000000, end_ns = 20000000000"
others="SELECT group_concat(replace(kind, 'perf maps of ', '')) FROM ledger
        WHERE kind LIKE 'perf maps of %' AND value = 1"
# check DB TIME WHOSE: a list that was last written to at TIME is WHOSE; "": its own.
check()
{
        touch -d "@$2" "$list"
        "$MEMLAG" symbolize --drop-names "$1"
        holds "$1" "$3" "$others"
        [ -z "$3" ] && wanted=$samples || wanted=0
        holds "$1" "$wanted" "SELECT count(*) FROM sample_view WHERE function = 'made again'"
}
"$MEMLAG" symbolize t.db
touch -d "@$((began - 1))" "$list"
refuses 1 'code made at run time would be lost' "$MEMLAG" symbolize t.db
check t.db $((began - 1)) "earlier processes"
check t.db "$began" ""
check t.db "$ended" ""
check t.db $((ended + 2)) "later processes"
check real.db $((began + 9)) "earlier processes"
check real.db $((began + 10)) ""
check real.db $((began + 21)) ""
check real.db $((began + 23)) "later processes"
# It was there before the run, or outlived it.
sqlite3 real.db "UPDATE process SET start_ns = 0, end_ns = NULL"
check real.db 978307200 ""
check real.db $((began + 100000)) ""

# Another's list is not believed, and nothing waits for a FIFO.
rm -f "$list"
mkfifo "$list"
timeout 100 "$MEMLAG" symbolize --drop-names t.db || fail "a FIFO in place of a list"
holds t.db "memory of no file" "SELECT outcome FROM resolution WHERE subject = 'function'
        AND outcome <> 'resolved' ORDER BY samples DESC LIMIT 1"

# On the processor, in memory reserved first, as by Java's compilers: it is code, although the heap
# tracker reports a block there.
rm -f "$list"
sed 's/unsigned char \*code = mmap(NULL, 4096,/unsigned char *code = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\
        mmap(code, 4096,/; s/MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);$/MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);/
     s/mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED/mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS/
     s/300000)/30000000)/' jit.c >fixed.c
compile -o fixed fixed.c
if "$MEMLAG" record --force --source clock -o clock.db -- ./fixed >out 2>err; then
        list=$(head -1 out)
        # The program waits for the loop's only load, which precedes the instruction that the timer
        # finds.
        holds clock.db "1|1" "SELECT 2 * count(*) > (SELECT count(*) FROM sample),
                sum(stall_ns > 0) > 0.8 * count(*) FROM sample JOIN sample_view USING (sample_id)
                WHERE function = 'made to chase'"
else
        echo "perf_map.sh: SKIPPED on the processor: $(cat err)"
fi
