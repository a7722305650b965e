#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag bench: the kernels do what they report, by their machine code and by the simulated PMU's
# counters.
. "$SOURCE_DIR/tests/integration/library.sh"

# ---- bench: usage ------------------------------------------------------------------
refused() # refused TEXT ARGUMENT...
{
        text=$1
        shift
        refuses 2 "$text" "$MEMLAG" bench "$@"
}

refused "there is no kernel 'chaos'" chaos
refused "means nothing to chase" chase --delay 5
refused "not a number of bytes" chase --size 12Q
refused "not a number of bytes" chase --size -5
refused "not a number of bytes" chase --size 99999999999999999999
refused "not a number of bytes" chase --size 9999999999G
refused "holds less than two steps" chase --block 3
refused "holds less than two steps" chase --block 64
refused "holds less than two steps" pairs --stride 128 --block 255
refused "is not from 1 to" chase --block 0
refused "with --order sequential it does nothing" chase --order sequential --block 4K
refused "is not from 8 to" chase --stride 4
refused "is not from 8 to" chase --stride 4G
# The least size that is named is one that does.
refused "must be 128 bytes or more with 1 thread" ddot --size 127
refused "must be 1280 bytes or more with 2 threads" dgemv --size 1279 --threads 2
refused "must be 1536 bytes or more with 1 thread" dgemm --size 8
for smallest in "ddot --size 128" "dgemv --size 1280 --threads 2" "dgemm --size 1536"; do
        "$MEMLAG" bench $smallest --passes 1 --format json >out || fail "bench $smallest"
        ! grep -q '"loads": 0,' out || fail "bench $smallest: $(cat out)"
done
refused "at least two threads" true-sharing --threads 1
refused "at most 16384 NOPs" memread --delay 20000
refused "comes before" --size 5 chase
refused "needs --threads 2" load --places
refused "each needs one of its own" true-sharing --places --threads 60000

ends 1 sh -c 'ulimit -v 400000 && exec "$MEMLAG" bench chase --size 2G' >out
[ "$(wc -l <err)" -eq 1 ] || fail "bench without memory: $(cat err)"

# More than a cgroup allows is refused with the size that it does allow.
group=
for parent in /sys/fs/cgroup/memory /sys/fs/cgroup; do
        group=$parent/memlag-bench-$$
        for limit in memory.limit_in_bytes memory.max; do
                mkdir -p $group 2>/dev/null && [ -e $group/$limit ] && echo 100000000 >$group/$limit && break 2
        done
        [ ! -d $group ] || rmdir $group
        group=
done
if [ -n "$group" ]; then
        limited() # limited SIZE
        {
                sh -c 'echo $$ >"$1"/cgroup.procs && exec "$2" bench chase --passes 1 --size "$3"' sh "$group" "$MEMLAG" "$1" >out 2>err
        }
        status=0 fitting_status=0
        limited 1G || status=$?
        cp err refused.txt
        fitting=$(sed -n 's/.*--size \([0-9]*K\) or less.*/\1/p' err)
        limited "${fitting:-0}" || fitting_status=$?
        rmdir "$group"
        [ $status -eq 1 ] || fail "bench beyond a cgroup's memory: status $status, $(cat refused.txt)"
        [ "$(wc -l <refused.txt)" -eq 1 ] || fail "bench beyond a cgroup's memory: $(cat refused.txt)"
        [ "${fitting%K}" -gt 60000 ] || fail "most of 100 MB would do: $(cat refused.txt)"
        [ $fitting_status -eq 0 ] || fail "bench with the size that was named: status $fitting_status, $(cat err)"
else
        echo "SKIPPED: bench in a cgroup with a limit of memory was NOT tested: no cgroup may be made here" >&2
fi

"$MEMLAG" bench chase --size 64M --stride 1M --block 2M --passes 1 >out || fail "a stride with a unit"

for kernel in $("$MEMLAG" bench --list | cut -d' ' -f1); do
        "$MEMLAG" bench "$kernel" --passes 1 --format json >"$kernel.json"
        python3 -c 'import json, sys; assert json.load(sys.stdin)["ns_per_access"] > 0' \
                <"$kernel.json"
done
# Figures that a kernel does not report are null; no branch is 0.
python chase.json icode.json <<'EOF'
chase, icode = (json.load(open(path))["per_pass"] for path in sys.argv[1:])
assert chase["instructions"] is None and chase["branches"] is None, chase
assert icode["instructions"] > 0 and icode["branches"] == 0, icode
EOF

# A note says that a time is too short for its digits: of a single pass, if the caches are emptied
# between passes.
short() # short SHORT TEXT ARGUMENT...
{
        expected=$1 text=$2
        shift 2
        "$MEMLAG" bench "$@" >out
        if [ "$expected" = yes ]; then
                grep -q "^note: .* us at a time are too short to be precise: .*$text" out || fail "bench $*: $(cat out)"
        else
                ! grep -q "^note: .*too short" out || fail "bench $*: $(cat out)"
        fi
        "$MEMLAG" bench "$@" --format json | python3 -c '
import json, sys
result = json.load(sys.stdin)
assert result["short"] == (sys.argv[1] == "yes"), result
assert result["disturbed"] in ("no", "shared", "interrupted"), result
assert 0 < result["timed_seconds"] <= result["seconds"], result' "$expected"
}
short yes "more --passes" load --size 512 --passes 1
short yes "a greater --size" dgemm --size 24K --passes 100
short no "" load --size 1M
# Beside other programs one of two threads may begin late, and both then take long.
"$MEMLAG" bench load --size 1M --passes 3 --threads 2 --format json | python3 -c '
import json, sys
result = json.load(sys.stdin)
assert result["short"] == (result["timed_seconds"] < 0.01), result'

# A kernel that shares a CPU with another program is reported as interrupted.
cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
taskset -c "$cpu" python3 -c 'while True: pass' &
busy=$!
taskset -c "$cpu" "$MEMLAG" bench chase --size 64K --format json >beside.json || true
taskset -c "$cpu" "$MEMLAG" bench chase --size 64K >beside.txt || true
kill $busy
grep -q '"disturbed": "interrupted"' beside.json || fail "beside another program: $(cat beside.json)"
grep -q "^note: another program had a CPU of these threads" beside.txt || fail "$(cat beside.txt)"

# A line takes longer between two CPUs than between a core and its caches, and no longer than a few
# loads of memory.
if [ "$(nproc)" -ge 2 ]; then
        "$MEMLAG" bench load --threads 2 --size 1M --passes 1 --places --format json >places.json
        python places.json <<'PYTHON'
trips = json.load(open(sys.argv[1]))["round_trips_ns"]
for when in ("before", "after"):
    (ns,) = trips[when]
    assert ns is None or 10 < ns < 100000, trips
PYTHON
        "$MEMLAG" bench load --threads 2 --size 1M --passes 1 --places >places.txt
        [ "$(grep -c "there and back" places.txt)" -eq 2 ] || fail "places: $(cat places.txt)"
else
        echo "SKIPPED: --places was NOT tested: one CPU may be used here" >&2
fi

# Both clocks agree, also for a microsecond: as many ticks in a nanosecond as in half a second, by
# the median of runs. Some runs are disturbed.
"$MEMLAG" bench chase --size 4K --format json >long.json
for run in 1 2 3 4 5 6 7 8 9; do
        "$MEMLAG" bench chase --size 4K --passes 1 --format json
done >short.json
python long.json short.json <<'PYTHON'
(long,), short = ([json.loads(line) for line in open(path)] for path in sys.argv[1:])
ratio = lambda run: run["tsc_ticks_per_access"] / run["ns_per_access"]
median = statistics.median(map(ratio, short))
assert 0.9 < median / ratio(long) < 1.1, (median, ratio(long))
assert 0 < long["cpu_seconds"] < 1.01 * long["seconds"] + 0.001, long
PYTHON

# The kernel is asked once how much is on huge pages, however many threads there are.
if has strace; then
        strace -f -o calls -e trace=openat "$MEMLAG" bench chase --size 1M --threads 20 --passes 1 >out
        [ "$(grep -c /proc/self/smaps calls)" -eq 1 ] || fail "smaps: $(grep smaps calls)"
fi

# ---- bench: the truth ----------------------------------------------------------------
python3 "$SOURCE_DIR/tests/integration/kernel_code.py" "$BINARY_DIR/microbench/libmemlag_kernels.a"
python3 "$SOURCE_DIR/tests/integration/kernel_counts.py" \
        "$BINARY_DIR/tests/integration/bench_each" "$MEMLAG"
