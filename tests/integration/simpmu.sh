#!/bin/sh
# SPDX-License-Identifier: MIT
# The simulated PMU on programs of known behaviour (simpmu_programs.c).
. "$SOURCE_DIR/tests/integration/library.sh"

for kind in '' -static; do
        "$CC" -O2 -pthread $kind -o "programs$kind" "$SOURCE_DIR/tests/integration/simpmu_programs.c"
done

# simulate NAME [KEY=VALUE...] -- [OPTION...] PROGRAM [ARGUMENT...]: the recording is NAME.db.
simulate()
{
        name=$1 settings=
        shift
        while [ "$1" != -- ]; do
                settings="$settings --sim-set $1"
                shift
        done
        shift
        record "$name" $LOADS --no-heap $settings "$@"
}

# total NAME COUNTER: over all threads and intervals.
total()
{
        answer "$1.db" "SELECT CAST(sum(value) AS INTEGER) FROM reading
                JOIN counter USING (counter_id) WHERE name = '$2'"
}

# within WHAT VALUE LEAST MOST, each an expression of awk.
within()
{
        awk "BEGIN { value = $2; exit !(value > $3 && value < $4) }" ||
                fail "$1: $2 is not between $3 and $4"
}

# ---- a chase waits for each load, four chains overlap ----
plain="page_walk.latency_cycles=0 stlb.latency_cycles=0 l3.size_bytes=2883584"
for chains in 0 1 4; do
        simulate chase$chains $plain -- ./programs chase $chains
done
gained() # gained CHAINS COUNTER
{
        echo $(($(total "chase$1" "$2") - $(total chase0 "$2")))
}
cycles=cpu_clk_unhalted.thread dram_cycles=189 # 90 ns at 2.1 GHz
chase_cycles=$(gained 1 $cycles)
within "cycles of a step of the chase" "$chase_cycles / 200000" "0.97 * $dram_cycles" "1.05 * $dram_cycles"
within "misses outstanding in a chase" "$(gained 1 l1d_pend_miss.pending) / $chase_cycles" 0.97 1.03
within "what four chains gain" "$chase_cycles / $(gained 4 $cycles)" 3.7 4.2
holds chase1.db 1 "SELECT count(*) > 0 FROM sample_view WHERE level = 'DRAM'"

# ---- frames of stacks are code addresses, to the program's start ----
holds chase1.db 0 "SELECT count(*) FROM stack WHERE ip BETWEEN 0 AND 65535"

# ---- repeated runs give the same samples ----
simulate again $plain -- ./programs chase 1
samples="SELECT time_ns, ip, addr, latency_cycles, level FROM sample_view"
expect "samples of the same program" "$(answer again.db "$samples" | cksum)" \
        "$(answer chase1.db "$samples" | cksum)"

# ---- many threads share the memory's bandwidth ----
for threads in 1 16; do
        simulate threads$threads l3.size_bytes=2883584 dram.bandwidth_gbs=20 -- --interval 0.2 \
                ./programs threads $threads
        busiest=$(answer threads$threads.db "SELECT read_gbs, lmrl_cycles FROM interval_view
                WHERE lmrl_cycles > 0 AND read_gbs > 20 * write_gbs ORDER BY 1 DESC LIMIT 1")
        [ $threads = 16 ] || idle=${busiest#*|}
done
within "GB/s of 16 threads where the limit is 20" "${busiest%|*}" 18 21
within "LMRL under contention" "${busiest#*|}" "1.5 * $idle" 1e9
holds threads16.db "17|17" "SELECT count(*), count(end_ns) FROM thread"
holds threads16.db 1 "SELECT count(DISTINCT cpu) >= 16 FROM sample"
# No thread's time goes back.
holds threads16.db 0 "SELECT count(*) FROM (SELECT time_ns < lag(time_ns) OVER (
        PARTITION BY thread_id ORDER BY sample_id) AS back FROM sample) WHERE back"

# ---- a slow reader loses nothing, and every load is seen when L1 hits qualify ----
simulate every -- --period 1 --ldlat 1 ./programs exit 0
within "samples of all loads" "$(answer every.db 'SELECT count(*) FROM sample') / \
        $(total every mem_inst_retired.all_loads)" 0.98 1.02
simulate fast -- --period 2 ./programs chase 1
"$MEMLAG" record $LOADS --no-heap --period 2 -o slow.db -- ./programs chase 1 >out 2>&1 &
recorder=$!
has_samples() { answer slow.db 'SELECT 1 FROM sample LIMIT 1' | grep -q 1; }
until_true has_samples
# Where the machine is slow either may have ended before.
target=$(cat /proc/$recorder/task/$recorder/children 2>/dev/null || true)
kill -STOP $recorder 2>/dev/null || true
# It waits for room in its ring.
waits() { ! grep -q '^State:.[^SZ]' /proc/${target% }/status; }
until_true waits
kill -CONT $recorder 2>/dev/null || true
ended 0 $recorder out
expect "samples with a slow reader" "$(answer slow.db 'SELECT count(*) FROM sample')" \
        "$(answer fast.db 'SELECT count(*) FROM sample')"

# ---- signals, static and AVX2 programs, the time stamp counter ----
for arguments in "programs signals" "programs-static signals" "programs avx2" "programs time_stamp" \
        "programs-static chase 1"; do
        simulate plain -- ./$arguments
done

# ---- a signal that a program raises itself ends it as it does alone, and its threads end ----
ends 134 "$MEMLAG" record $LOADS --no-heap -o abort.db -- sh -c 'kill -ABRT $$' >out
holds abort.db 0 "SELECT count(*) FROM thread WHERE end_ns IS NULL"

# ---- without its shared file the target runs all the same ----
place=$(mktemp -d) # the engine's LD_PRELOAD cannot say a space
trap 'rm -r "$place"' EXIT
ln -s "$BINARY_DIR/libexec/memlag/valgrind" "$place/engine"
export VALGRIND_LIB="$place/engine"
ends 5 "$place/engine/simpmu-launch" --tool=memlag --command-line-only=yes -q --log-file=/dev/null \
        --vgdb=no --shared=/nonexistent --bell=/nonexistent ./programs exit 5
