#!/bin/sh
# SPDX-License-Identifier: MIT
# Source clock: time goes to the line of the load that waited, with the object if its address can be
# known. It covers running processes and CPUs, and the target runs as without memlag.
. "$SOURCE_DIR/tests/integration/library.sh"

# record DB ARGUMENT...: quietly, with the target's status.
record()
{
        db=$1
        shift
        "$MEMLAG" record --force -o "$db" --source clock "$@" 2>err
}

# The time that process PID has had for itself on CPUs, in ms: a busy machine gives it late.
cpu_ms()
{
        sed 's/.*) //' "/proc/$1/stat" | awk -v hz="$(getconf CLK_TCK)" '{ print int($12 * 1000 / hz) }'
}

has_run()
{
        [ "$(cpu_ms "$1")" -ge "$2" ]
}

record probe.db -- true || skip "$(cat err)"

program loads <<'END'
enum { NODES = 1 << 20, STEPS = 4000000 };
struct node { struct node *next; long pad[7]; };
static struct node nodes[NODES];
static long table[1 << 23];
static __attribute__((noinline)) struct node *chase(struct node *node, long steps)
{
        while (steps--)
                node = node->next; /* the chase */
        return node;
}
static __attribute__((noinline)) long pick(const long *from, unsigned long steps)
{
        long sum = 0;
        for (unsigned long i = 0, at = 1; i < steps; i++) {
                at = at * 6364136223846793005 + 1442695040888963407;
                sum += from[at >> 41]; /* the pick */
        }
        return sum;
}
int main(int argc, char **argv)
{
        for (long i = 0; i < NODES; i++)
                nodes[i].next = &nodes[(i * 7654321 + 7) % NODES];
        for (long i = 0; i < 1 << 23; i++)
                table[i] = i;
        if (argc > 1) {
                puts(argv[1]);
                fflush(stdout);
        }
        long result = 0;
        long steps = argc > 1 ? STEPS / 20 : STEPS;
        for (int i = 0; i < (argc > 1 ? 2000 : 2); i++)
                result += chase(nodes, steps) == nodes ? 0 : pick(table, steps);
        return result == 42;
}
END
chase=$(grep -n 'the chase' loads.c | cut -d: -f1)
pick=$(grep -n 'the pick' loads.c | cut -d: -f1)

# ---- where the time goes ------------------------------------------------------------

record loads.db --call-graph none -- ./loads || fail "$(cat err)"
in_function()
{
        answer loads.db "SELECT count(*) FROM sample JOIN sample_location USING (sample_id) JOIN
                location USING (location_id) WHERE function = '$1' $2"
}
# Nearly nothing but the load takes time in the chase: the interrupted instruction is the
# one behind it (89 % measured), which is not on the line of the load alone.
all=$(in_function chase "")
[ "$all" -gt 100 ] || fail "$all samples in the chase"
[ $((100 * $(in_function chase "AND line = $chase AND stall_ns = 250000"))) -ge $((80 * all)) ] ||
        fail "chase: $(in_function chase "AND line = $chase AND stall_ns > 0") of $all at its load"
expect "addresses that the chase overwrote" "$(in_function chase 'AND addr IS NOT NULL')" 0
all=$(in_function pick "AND stall_ns > 0")
[ "$all" -gt 50 ] || fail "$all samples at loads in pick"
expect "addresses of the pick" "$(in_function pick "AND stall_ns > 0 AND line = $pick
        AND addr IS NOT NULL")" "$all"
holds loads.db table "SELECT group_concat(DISTINCT name) FROM
        sample JOIN attribution USING (sample_id) JOIN location USING (location_id)
        LEFT JOIN data_object USING (object_id) WHERE function = 'pick' AND stall_ns > 0"
holds loads.db 0 "SELECT count(*) FROM sample_view
        WHERE latency_cycles IS NOT NULL OR level <> 'NA'"
# An interrupted string instruction stays at itself, and its register tells how far it is.
program fill <<'END'
static char bytes[1 << 20];
int main(void)
{
        for (int i = 0; i < 4000; i++) {
                void *to = bytes;
                unsigned long count = sizeof(bytes);
                __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(i) : "memory");
        }
        return 0;
}
END
record fill.db -- ./fill || fail "$(cat err)"
holds fill.db 1 "SELECT count(*) > 50 AND sum(op = 'store' AND addr IS NOT NULL) > 0.8 * count(*)
        FROM sample_view WHERE function = 'main'"
"$MEMLAG" report -v loads.db >report
grep -q "^memlag: measured by clock" report || fail "the report's first line: $(head -1 report)"
tr '\n' ' ' <report | grep -q "contention are unknown" ||
        fail "the report does not say what it cannot know"
# Every table has shares of stalled time, and nothing that a timer does not know.
for by in line function object type interval caller; do
        "$MEMLAG" report -v --no-source --by $by --top 0 loads.db >report
        head=$(grep '^ *stalled ' report) || fail "--by $by: no stalled time: $(cat report)"
        case $head in
        *latency*|*DRAM*|*verdict*|*LMRL*|*mean*|*contended*)
                fail "--by $by: $head" ;;
        esac
        grep -q '^stalled: ' report || fail "--by $by: nothing explains the column: $(cat report)"
done
"$MEMLAG" report -v --by interval --top 0 loads.db | awk '
        /^ *stalled / { rows = 1; next }
        rows && NF == 0 { exit }
        rows { ms += $2; samples += $3 }
        END { printf "%d %.2f", samples, ms }' >sums
expect "samples and stalled time of all intervals" "$(cat sums)" "$(answer loads.db "
        SELECT printf('%d %.2f', count(*), sum(stall_ns) / 1e6) FROM sample WHERE stall_ns > 0")"
expect "the same of rows for programs" "$("$MEMLAG" report --by interval --format csv --top 0 loads.db |
        awk -F, -v all="$(answer loads.db "SELECT count(*) FROM sample")" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { ns += $column["stall_ns"]; samples += $column["samples"]; share += $column["latency_share"] }
        END { printf "%d %.0f %.3f", samples, ns, share * all }')" "$(answer loads.db "
        SELECT printf('%d %d %d.000', sum(stall_ns > 0), sum(stall_ns), sum(stall_ns > 0)) FROM sample")"
# The program waits at stores for which the store buffer has no room.
program stores <<'END'
static __attribute__((noinline)) void scatter(unsigned long *to, long steps)
{
        unsigned long at = 1;
        while (steps--) {
                at = at * 6364136223846793005 + 1442695040888963407;
                to[at >> 40] = at; /* the store */
        }
}
int main(void)
{
        unsigned long *to = malloc(sizeof(*to) << 24);
        memset(to, 1, sizeof(*to) << 24);
        scatter(to, 20000000);
        return to[0] == 42;
}
END
record stores.db -- ./stores || fail "$(cat err)"
store=$(grep -n 'the store' stores.c | cut -d: -f1)
all=$(answer stores.db "SELECT count(*) FROM sample_view WHERE function = 'scatter'")
[ "$all" -gt 50 ] || fail "$all samples in scatter"
waits=$(answer stores.db "SELECT count(*) FROM sample_view JOIN sample USING (sample_id)
        WHERE function = 'scatter' AND line = $store AND sample_view.op = 'store'
        AND stall_ns > 0 AND object LIKE 'main at stores.c:%'")
[ $((100 * waits)) -ge $((60 * all)) ] || fail "stores: $waits of $all at the store"

# Shares are of all samples, at loads or not, in every report.
all=$(answer loads.db "SELECT count(*) FROM sample")
for by in line function thread; do
        expect "the samples that all shares by $by stand for" "$("$MEMLAG" report --by $by --format json --top 0 loads.db |
                as_json '"%.3f" % ('"$all"' * sum(row["latency_share"] or 0 for row in it["rows"]))')" "$(answer loads.db "
                SELECT count(*) || '.000' FROM sample WHERE stall_ns > 0")"
done
unplaced=$(answer loads.db "SELECT value FROM ledger WHERE kind = 'timer samples on unknown instructions'" |
        awk -v all="$all" '{ printf "%.1f", 100 * $1 / all }')
case $unplaced in
''|0.0) ;;
*) "$MEMLAG" report loads.db | head -1 | grep -q "clock.*, $unplaced% of the samples not placed: " ||
        fail "the first line does not say $unplaced%: $("$MEMLAG" report loads.db | head -1)" ;;
esac
grep -q "auto" err && fail "auto"
grep -q "source clock" err || fail "the source is not named: $(cat err)"

# ---- call stacks ----------------------------------------------------------------------

cat >calls.c <<'END'
long table[1 << 20];
static __attribute__((noinline)) long leaf(unsigned long at)
{
        long sum = 0;
        for (int i = 0; i < 4000000; i++) {
                at = at * 6364136223846793005 + 1;
                sum += table[at >> 44];
        }
        return sum + 1;
}
static __attribute__((noinline)) long middle(unsigned long at) { return leaf(at) * 3; }
static __attribute__((noinline)) long outer(unsigned long at) { return middle(at) + 2; }
int main(void)
{
        long sum = 0;
        for (int i = 0; i < 10; i++)
                sum += outer(i);
        return sum == 7;
}
END
# The functions from each sample in leaf outwards, and how many samples have them.
stacks_of()
{
        answer "$1" "WITH RECURSIVE up (id, sample_id, depth) AS (
                SELECT stack_id, sample_id, 0 FROM sample JOIN sample_location USING (sample_id)
                JOIN location USING (location_id) WHERE function = 'leaf'
                UNION ALL SELECT parent_id, sample_id, depth + 1 FROM up
                JOIN stack ON stack_id = up.id WHERE parent_id IS NOT NULL AND depth < 3)
        SELECT DISTINCT group_concat(function, ' ') OVER (PARTITION BY sample_id
                ORDER BY depth ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
        FROM up JOIN stack_location ON stack_id = up.id JOIN location USING (location_id)"
}
"$CC" -O2 -g -fomit-frame-pointer -o calls calls.c
record stacks.db --call-graph dwarf -- ./calls || fail "$(cat err)"
expect "stacks by unwinding" "$(stacks_of stacks.db)" "leaf middle outer main"
"$CC" -O0 -g -fno-omit-frame-pointer -o calls calls.c
record stacks.db --call-graph fp -- ./calls || fail "$(cat err)"
# Where a function has just begun or is about to end, its frame is not there.
stacks_of stacks.db | grep -qx "leaf middle outer main" || fail "stacks: $(stacks_of stacks.db)"

# ---- stacks as data --------------------------------------------------------------------

# Five threads in all. Four began on separate stacks, two of them after two had ended.
program workers -fomit-frame-pointer <<'END'
static __attribute__((noinline, noipa)) long sum(const long *rows, int count)
{
        long total = 0;
        for (int i = 0; i < count; i++)
                total += rows[i * 7919 % count];
        return total;
}
static void *run(void *unused)
{
        long rows[1000] = {1}, total = 0;
        for (int i = 0; i < 40000; i++)
                total += sum(rows, 1000);
        return total == 7 ? (void *)total : unused;
}
int main(void)
{
        pthread_t threads[2];
        for (int round = 0; round < 2; round++) {
                for (int i = 0; i < 2; i++)
                        pthread_create(&threads[i], NULL, run, NULL);
                for (int i = 0; i < 2; i++)
                        pthread_join(threads[i], NULL);
        }
        return run(NULL) != NULL;
}
END
in_workers="SELECT DISTINCT object_kind || ' ' || object FROM sample_view
        WHERE function = 'sum' AND object IS NOT NULL ORDER BY 1"
record workers.db --call-graph dwarf -- ./workers || fail "$(cat err)"
holds workers.db "stack run::rows" "$in_workers"
# Which frame it was is not known without the call stack, and no other's is named.
record workers.db -- ./workers || fail "$(cat err)"
expect "objects without call stacks" "$(answer workers.db "$in_workers")" \
        "$(answer workers.db "SELECT 'stack stack of thread ' || tid FROM thread JOIN process
                USING (process_id) WHERE executable LIKE '%/workers' ORDER BY 1")"

# ---- the heap tracker's own time ---------------------------------------------------------

program mallocs -fno-builtin <<'END'
int main(void)
{
        void *blocks[64] = {0};
        for (long i = 0; i < 6000000; i++) {
                free(blocks[i % 64]);
                blocks[i % 64] = malloc(16 + i % 100);
        }
        return blocks[3] == 0;
}
END
in_tracker()
{
        answer "$1" "SELECT coalesce(sum(value), 0) FROM ledger
                WHERE kind = 'samples in the heap tracker'"
}
for mode in none fp; do
        record mallocs.db --call-graph $mode -- ./mallocs || fail "$(cat err)"
        # Most of the time is the tracker's, and none of that is the program's.
        [ "$(in_tracker mallocs.db)" -gt "$(answer mallocs.db "SELECT count(*) FROM sample")" ] ||
                fail "$mode: $(in_tracker mallocs.db) samples in the tracker"
        grep -q "samples in the heap tracker" err || "$MEMLAG" report -v mallocs.db |
                grep -q "samples in the heap tracker" || fail "$mode: not reported"
        "$MEMLAG" report -v mallocs.db | sed '/^stalled /,$d' | tr '\n' ' ' >head.txt
        says "'memlag record --no-heap' leaves out the tracker" head.txt
        holds mallocs.db 0 "SELECT count(*)
                FROM location JOIN module USING (module_id) WHERE path LIKE '%vgpreload%'"
        # Where the kernel trusts the time stamp counter, the tracker asks no clock.
        if grep -qx tsc /sys/devices/system/clocksource/clocksource0/current_clocksource; then
                holds mallocs.db 0 "SELECT count(*) FROM sample_view
                        WHERE module = '[vdso]'"
        else
                echo "record_clock: no trusted time stamp counter: clock reads not checked"
        fi
        [ "$(answer mallocs.db "SELECT count(*) FROM sample_view
                WHERE function LIKE '%free' OR function LIKE '%malloc'")" -gt 0 ] ||
                fail "$mode: nothing of the allocator's own time"
done
record mallocs.db --no-heap -- ./mallocs || fail "$(cat err)"
expect "without the tracker" "$(in_tracker mallocs.db)" 0
"$MEMLAG" report -v mallocs.db | sed '/^stalled /,$d' | tr '\n' ' ' >head.txt
! grep -q "heap tracker" head.txt || fail "a tracker that was not there: $(cat head.txt)"
# Samples cover all time on CPUs, at loads or not. Decimals are as exact as their digits: two
# programs may round a half differently.
said=$(sed -n 's/.* \([0-9]*\) timer samples, which stand for \([0-9.]*\) s on CPUs.*; \([0-9]*\) of them (\([0-9]*\)%) at loads.*/\1 \3 \2 \4/p' head.txt)
expect "samples in the report, and those at loads" "${said% * *}" "$(answer mallocs.db "
        SELECT printf('%d %d', count(*), sum(stall_ns > 0)) FROM sample")"
echo "$said $(answer mallocs.db "SELECT value FROM run WHERE key = 'frequency_hz'")" | awk '
        function near(said, value, half) { return said - value <= half && value - said <= half }
        { exit !(near($3, $1 / $5, 0.00050001) && near($4, 100 * $2 / $1, 0.50001)) }' ||
        fail "time on CPUs, or its share at loads: $(cat head.txt)"

# ---- the kernel's code in the process ------------------------------------------------

program clocks <<'END'
int main(void)
{
        struct timespec time;
        long sum = 0;
        for (long i = 0; i < 3000000; i++)
                sum += clock_gettime(CLOCK_MONOTONIC, &time);
        return sum != 0;
}
END
record clocks.db -- ./clocks || fail "$(cat err)"
in_vdso="SELECT count(*) FROM sample_view WHERE module = '[vdso]'"
if [ "$(answer clocks.db "$in_vdso")" -lt 20 ]; then
        echo "record_clock: SKIPPED: names in the vdso: reading the clock is a system call here" >&2
else
        # vdso(7) names one function that the C library calls. Functions below it, as for some
        # clocks of virtual machines, have no symbol.
        holds clocks.db 0 "$in_vdso \
                AND coalesce(function, '') NOT IN ('__vdso_clock_gettime', '[vdso]')"
        named=$(answer clocks.db "$in_vdso AND function = '__vdso_clock_gettime'")
        [ $((2 * named)) -gt "$(answer clocks.db "$in_vdso")" ] ||
                fail "only $named samples in the vdso have the function's name"
        # Of another kernel's, or one that is not known, only that much is known.
        for id in NULL "x'00112233'"; do
                sqlite3 clocks.db "UPDATE module SET build_id = $id WHERE path = '[vdso]'"
                "$MEMLAG" symbolize --drop-names clocks.db
                expect "samples in a vdso of build-id $id with a name" "$(answer clocks.db \
                        "$in_vdso AND function IS NOT '[vdso]'")" 0
        done
fi

# ---- never chosen by default, and its refusals ---------------------------------------

"$MEMLAG" record --force -o auto.db -- true 2>err || fail "$(cat err)"
grep -q "source clock" err && fail "auto chose the clock"
refused()
{
        wanted=$1 pattern=$2
        shift 2
        refuses "$wanted" "$pattern" "$MEMLAG" record -o refused.db --source clock "$@"
        [ ! -e refused.db ] || fail "$*: refused.db was made"
}
refused 1 "use --freq" --period 100 -- true
refused 1 "record without --ldlat" --ldlat 30 -- true
refused 1 "record without --stores" --stores -- true
refused 1 "no process 4194304" -p 4194304
refused 2 "goes neither with a command" -p 1 -- true
refused 2 "exclude each other" --period 1 --freq 1 -- true
refused 2 "no power of two" --mmap-pages 3 -- true
refused 2 "no list of CPUs" -C nothing
refused 1 "CPU 4095 is not online here" -C 4095
refuses 1 "record without --mmap-pages" "$MEMLAG" record -o refused.db $SIM --mmap-pages 8 -- true
refuses 1 "knows no -p.*--source clock" "$MEMLAG" record -o refused.db $SIM -p 1
"$MEMLAG" record -o refused.db -p 4194304 2>err && fail "a process that there is not"
[ "$(cat err)" = "memlag record: there is no process 4194304" ] || fail "no process: $(cat err)"

# ---- the target is as without us ------------------------------------------------------

echo input | ends 143 record target.db -- sh -c 'cat; echo done; kill -TERM $$' >out
expect "standard input and output" "$(tr '\n' ' ' <out)" "input done "
ends 127 record target.db -- ./nowhere
ends 4 record target.db --duration 0.1 -- sh -c 'date +%s%N; sleep 2; date +%s%N; exit 4' >lived
expect "lines of a command that went on after the duration" "$(wc -l <lived)" 2
! grep -q 'lives* on' err || fail "a command that ended after the duration lives on: $(cat err)"
# Shorter than its command lived, which is two seconds or more.
lived=$(($(tail -n 1 lived) - $(head -n 1 lived)))
holds target.db 1 "SELECT value < $lived FROM run WHERE key = 'duration_ns'"

# ---- running processes, and CPUs ---------------------------------------------------------

mkfifo ready
./loads started >ready &
pid=$!
read -r word <ready
expect "the program" "$word" started
record brief.db -p $pid --duration 0.2 || fail "$(cat err)"
kill -0 $pid || fail "the program ended by being recorded for a time"
"$MEMLAG" record --force -o attached.db --source clock -p $pid 2>attached.err &
recorder=$!
until_true grep -q "source clock" attached.err
until_true has_run $pid $(($(cpu_ms $pid) + 500))
kill -INT $recorder
wait $recorder || fail "Ctrl-C: status $?: $(cat attached.err)"
kill -0 $pid || fail "the program ended by being recorded"
kill $pid
holds attached.db $pid 'SELECT group_concat(pid) FROM process'
holds attached.db 1 "SELECT count(DISTINCT name) FROM data_object
        WHERE name = 'table'"
holds attached.db 1 "SELECT count(*) > 100 FROM sample_view
        WHERE function IN ('chase', 'pick')"
holds attached.db "process $pid" "SELECT value FROM run WHERE key = 'command'"
holds attached.db 0 "SELECT count(*) FROM run WHERE key = 'exit_status'"

# Threads that are born while the recorder starts. Each begins the next one: a missed thread ends
# the sequence. Each then works for 50 ms.
program births <<'END'
enum { LINKS = 100 };
static volatile sig_atomic_t go;
static void set_go(int number) { go = number; }
static void work_ms(long ms)
{
        struct timespec now;
        do
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}
static void *live(void *links_left)
{
        pthread_t next;
        long left = (long)links_left;
        printf("%d\n", gettid());
        fflush(stdout);
        if (left == LINKS - 10)
                close(STDERR_FILENO); /* ready */
        usleep(3000);
        if (left && pthread_create(&next, NULL, live, (void *)(left - 1)))
                return NULL;
        while (!go)
                usleep(1000);
        work_ms(50);
        if (left)
                pthread_join(next, NULL);
        return NULL;
}
int main(void)
{
        signal(SIGUSR1, set_go);
        live((void *)(long)LINKS);
        return 0;
}
END
./births >tids 2>ready &
pid=$!
read -r word <ready || true
"$MEMLAG" record --force -o births.db --source clock -p $pid 2>births.err &
recorder=$!
until_true grep -q "source clock" births.err
has_lines()
{
        [ "$(wc -l <"$1")" -eq "$2" ]
}
until_true has_lines tids 101
kill -USR1 $pid
wait $recorder || fail "births: $(cat births.err)"
sort -n tids >all
answer births.db "SELECT DISTINCT tid FROM sample JOIN thread USING (thread_id)
        ORDER BY tid" >sampled
if [ -z "$(answer births.db "SELECT 1 FROM ledger WHERE kind LIKE 'threads born%'")" ]; then
        cmp all sampled || fail "$(comm -23 all sampled | wc -l) of 101 threads are missing"
else
        fail "the threads never came to an end"
fi

# To the end of the process, and to Ctrl-C.
mkfifo end
sh -c 'read -r word <end' &
"$MEMLAG" record --force -o ended.db --source clock -p $! 2>ended.err &
recorder=$!
until_true grep -q "source clock" ended.err
echo end >end
wait $recorder || fail "$(cat ended.err)"
taskset -c 0 ./loads started >ready & # so that CPU 0 has something to sample
pid=$!
read -r word <ready
"$MEMLAG" record --force -o all.db --source clock -a 2>all.err &
recorder=$!
until_true grep -q "source clock" all.err
"$MEMLAG" record --force -o one.db --source clock -C 0 --duration 0.2 2>err || fail "$(cat err)"
until_true has_run $pid $(($(cpu_ms $pid) + 100))
kill -INT $recorder
wait $recorder || fail "Ctrl-C: status $?: $(cat all.err)"
kill $pid
holds all.db 1 "SELECT count(*) > 10 FROM sample JOIN thread USING (thread_id)
        JOIN process USING (process_id) WHERE pid = $pid"
holds all.db complete "SELECT value FROM run WHERE key = 'state'"
holds one.db 0 "SELECT group_concat(DISTINCT cpu) FROM sample"

# If the timer never fired, the report is still about time, not latencies.
"$MEMLAG" record --force -o none.db --source clock --freq 1 true 2>err || fail "$(cat err)"
"$MEMLAG" report -v none.db >none.txt
grep -q " timer samples, " none.txt || fail "no timer's report: $(cat none.txt)"
! grep -q "DRAM" none.txt || fail "a timer's report with memory's columns: $(cat none.txt)"

# A command that soon ends itself by a signal has begun all the same. Whether its records
# come before its end is a matter of chance.
for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
        ends 143 record short.db -- sh -c 'kill -TERM $$'
        ! grep -q "nothing was recorded" err || fail "run $number that ends itself: $(cat err)"
        holds short.db 1 'SELECT count(*) FROM process'
        rm short.db
done
