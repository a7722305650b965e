#!/bin/sh
# SPDX-License-Identifier: MIT
# The simulated PMU alone, against its protocol: programs of known behaviour run under
# the tool, and simpmu_consume prints its records.
. "$SOURCE_DIR/tests/integration/library.sh"

libexec=$BINARY_DIR/libexec/memlag/valgrind
# LD_PRELOAD, in which the engine names its files, cannot say a space.
place=$(mktemp -d)
trap 'rm -r "$place"' EXIT
ln -s "$libexec" "$place/engine"
export VALGRIND_LIB="$place/engine"
preset=$SOURCE_DIR/profiler/simpmu/presets/skylake-sp.conf
programs=$PWD/programs
static=$PWD/programs_static
"$CC" -O2 -pthread -o "$programs" "$SOURCE_DIR/tests/integration/simpmu_programs.c"
"$CC" -O2 -pthread -static -o "$static" "$SOURCE_DIR/tests/integration/simpmu_programs.c"

# simulate OUTPUT [KEY=VALUE...] -- PROGRAM [ARGUMENT...]: records go to OUTPUT, what
# the target says to stderr.txt, its status to $status
simulate() {
        output=$1
        shift
        status=0
        "$BINARY_DIR/tests/integration/simpmu_consume" "$libexec/simpmu-launch" "$preset" \
                "$@" >"$output" 2>stderr.txt || status=$?
}

# total FILE COUNTER: over all threads and intervals
total() {
        awk -v name="$2" '$3 == "COUNTERS" {
                for (i = 8; i < NF; i += 2) if ($i == name) sum += $(i + 1)
        } END { printf "%.0f\n", sum }' "$1"
}

# expect "EXPRESSION" WHAT: an awk condition that must hold
expect() {
        awk "BEGIN { exit !($1) }" || fail "$2: $1 does not hold"
}

# ---- a chase waits for each load, four chains overlap ----
plain="page_walk.latency_cycles=0 stlb.latency_cycles=0 l3.size_bytes=4194304 frames=0"
for chains in 0 1 4; do
        # shellcheck disable=SC2086
        simulate "chase$chains.txt" $plain -- "$programs" chase "$chains"
        [ "$status" = 0 ] || fail "chase ended with $status"
done
gained() { # gained CHAINS COUNTER
        echo $(($(total "chase$1.txt" "$2") - $(total chase0.txt "$2")))
}
dram_cycles=189 # 90 ns at 2.1 GHz
chase_cycles=$(gained 1 CYCLES)
expect "$chase_cycles / 200000 > 0.97 * $dram_cycles && $chase_cycles / 200000 < 1.05 * $dram_cycles" \
        "cycles of a step of the chase"
expect "$(gained 1 PENDING) / $chase_cycles > 0.97 && $(gained 1 PENDING) / $chase_cycles < 1.03" \
        "misses outstanding in a chase"
expect "$chase_cycles / $(gained 4 CYCLES) > 3.7 && $chase_cycles / $(gained 4 CYCLES) < 4.2" \
        "what four chains gain"
grep -q "SAMPLE .* level DRAM " chase1.txt || fail "the chase has no sample from memory"

# ---- repeated runs give the same samples ----
simulate again.txt $plain -- "$programs" chase 1
awk '$3 == "SAMPLE" { $5 = ""; print }' chase1.txt >one.txt
awk '$3 == "SAMPLE" { $5 = ""; print }' again.txt >two.txt
[ -s one.txt ] || fail "no samples"
cmp one.txt two.txt || fail "two runs of one program differ"

# ---- stacks end at the program's start ----
simulate stack.txt period=100 -- "$programs" chase 1
awk '$3 == "SAMPLE" { for (i = 18; i <= NF; i++) if (length($i) < 5) exit 1 }' stack.txt ||
        fail "a frame is no code address"

# ---- many threads share the memory's bandwidth ----
small="l3.size_bytes=4194304 dram.bandwidth_gbs=20"
for threads in 1 16; do
        # shellcheck disable=SC2086
        simulate "threads$threads.txt" $small interval_ns=200000 -- "$programs" threads "$threads"
        [ "$status" = 0 ] || fail "$threads threads ended with $status"
        awk '$3 == "COUNTERS" { for (i = 8; i < NF; i += 2) v[$i] = $(i + 1)
                slot = int(($2 - 1) / 200000); read[slot] += v["DRAM_READ"]
                written[slot] += v["DRAM_WRITE"]
                pending[slot] += v["PENDING"]; loads[slot] += v["L1_MISS"] + v["FB_HIT"] }
        END { for (s in read) if (loads[s] > 1000 && read[s] > 20 * written[s] && read[s] > most) { most = read[s]; at = s }
                print most / 200000, pending[at] / loads[at] }' "threads$threads.txt" >peak.txt
        read -r bandwidth lmrl <peak.txt
        [ "$threads" = 1 ] && idle=$lmrl
done
expect "$bandwidth > 18 && $bandwidth < 21" "GB/s of 16 threads where the limit is 20"
expect "$lmrl > 1.5 * $idle" "LMRL under contention"
[ "$(grep -c ' THREAD tid' threads16.txt)" = 17 ] || fail "not 17 threads"
[ "$(grep -c ' THREAD_EXIT ' threads16.txt)" = 17 ] || fail "not 17 thread exits"
awk '$3 == "SAMPLE" { for (i = 1; i < NF; i++) if ($i == "cpu") print $(i + 1) }' threads16.txt |
        sort -u >cpus.txt
[ "$(wc -l <cpus.txt)" -ge 16 ] || fail "16 threads did not run on 16 cores"

# ---- time does not go back, except in counters ----
awk '$3 != "COUNTERS" { if ($2 < last) exit 1; last = $2 }' threads16.txt ||
        fail "time went back"

# ---- a slow reader loses nothing ----
simulate slow.txt slow=1 period=1 ldlat=1 -- "$programs" exit 0
simulate fast.txt slow=0 period=1 ldlat=1 -- "$programs" exit 0
[ "$(grep -c SAMPLE slow.txt)" = "$(grep -c SAMPLE fast.txt)" ] || fail "samples were lost"
[ "$(grep -c SAMPLE fast.txt)" -gt 20000 ] || fail "every load should be sampled"
tail -n 1 slow.txt | grep -q " END " || fail "the last record is not END"

# ---- every load is seen when L1 hits qualify ----
loads=$(total fast.txt LOADS)
expect "$(grep -c SAMPLE fast.txt) > 0.98 * $loads && $(grep -c SAMPLE fast.txt) < 1.02 * $loads" \
        "samples of all $loads loads"

# ---- processes ----
simulate processes.txt -- "$programs" fork_exec
[ "$status" = 7 ] || fail "fork and exec ended with $status"
[ "$(grep -c ' PROCESS ' processes.txt)" = 3 ] || fail "not three process images"
grep -q "^1 .* PROCESS tid 0 flags 2 " processes.txt || fail "no forked image"
grep -q "^1 .* END tid 0 flags 2$" processes.txt || fail "exec did not end the image before"
grep -q "^2 .* END tid 0 flags 1$" processes.txt || fail "the exec'd image has no end"
awk '$3 == "PROCESS" { start[$1] = $2 } $3 == "END" { end[$1] = $2 }
        END { exit !(start[1] > 0 && start[2] >= end[1]) }' processes.txt ||
        fail "time did not go on over fork and exec"
simulate script.txt -- /bin/sh -c '"$0" exit 3' "$programs"
[ "$status" = 3 ] || fail "a shell's exec ended with $status"

# ---- signals, static and AVX2 programs; what they say is all there is on stderr ----
for arguments in "programs signals" "programs_static signals" "programs avx2" "programs time_stamp" \
        "programs_static chase 1"; do
        program=./$arguments
        # shellcheck disable=SC2086
        simulate plain.txt -- $program
        [ "$status" = 0 ] || fail "$program ended with $status"
        [ -s stderr.txt ] && fail "$program: something was printed"
        tail -n 1 plain.txt | grep -q " END .* flags 1$" || fail "$program: no END"
done
simulate abort.txt -- "$programs" abort
[ "$status" = 134 ] || fail "abort ended with $status"
tail -n 1 abort.txt | grep -q " END " || fail "no END after a fatal signal"

# ---- what the engine cannot run ----
simulate avx512.txt -- "$programs" avx512
[ "$status" = 132 ] || fail "AVX-512 ended with $status"
grep -q "UNHANDLED .* bytes 62 f1 7c 48 58 c0" avx512.txt || fail "no UNHANDLED record"

# ---- the heap tracker, where it has been built ----
if [ -e "$libexec/vgpreload_memlag-amd64-linux.so" ]; then
        simulate heap.txt -- "$programs" heap
        grep -q " ALLOC .* size 12345 function 0 " heap.txt || fail "no ALLOC record"
        address=$(awk '$3 == "ALLOC" && /size 12345 / { print $9 }' heap.txt)
        grep -q " FREE .* addr $address$" heap.txt || fail "no FREE record"
fi

# ---- without its shared file the target runs all the same ----
status=0
"$libexec/simpmu-launch" --tool=memlag --command-line-only=yes -q --log-file=/dev/null \
        --vgdb=no --shared=/nonexistent --bell=/nonexistent "$programs" exit 5 || status=$?
[ "$status" = 5 ] || fail "a target without memlag ended with $status"
