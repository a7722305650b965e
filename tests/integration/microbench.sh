#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag bench and calibrate: what the kernels do is what they say (in their machine code
# and in the simulated PMU's counters), results can be read back, and bad conditions are
# said in one line.
set -eu

fail()
{
        echo "$*" >&2
        exit 1
}

# ---- bench: usage ------------------------------------------------------------------
refused() # refused TEXT ARGUMENT...
{
        text=$1
        shift
        status=0
        "$MEMLAG" bench "$@" >out 2>err || status=$?
        [ $status -eq 2 ] || fail "bench $*: status $status"
        grep -q -- "$text" err || fail "bench $*: $(cat err)"
}

refused "there is no kernel 'chaos'" chaos
refused "means nothing to chase" chase --delay 5
refused "not a number of bytes" chase --size 12Q
refused "not a number of bytes" chase --size -5
refused "not a number of bytes" chase --size 99999999999999999999
refused "not a number of bytes" chase --size 9999999999G
refused "at least two threads" true-sharing --threads 1
refused "at most 16384 NOPs" memread --delay 20000
refused "comes before" --size 5 chase

status=0
(ulimit -v 400000 && "$MEMLAG" bench chase --size 2G) >out 2>err || status=$?
[ $status -eq 1 ] || fail "bench without memory: status $status"
[ "$(wc -l <err)" -eq 1 ] || fail "bench without memory: $(cat err)"

for kernel in $("$MEMLAG" bench --list | cut -d' ' -f1); do
        "$MEMLAG" bench "$kernel" --passes 1 --format json >"$kernel.json"
        python3 -c 'import json, sys; assert json.load(sys.stdin)["ns_per_access"] > 0' \
                <"$kernel.json"
done

# ---- bench: the truth ----------------------------------------------------------------
python3 "$SOURCE_DIR/tests/integration/kernel_code.py" "$BINARY_DIR/microbench/libmemlag_kernels.a"
python3 "$SOURCE_DIR/tests/integration/kernel_counts.py" "$MEMLAG"

# ---- calibrate -----------------------------------------------------------------------
"$MEMLAG" calibrate --show >out 2>err && fail "a calibration before the first"
grep -q "memlag calibrate" err || fail "no remedy: $(cat err)"
"$MEMLAG" record --source sim --sim-cpu host -- true 2>err && fail "a host before the first calibration"
grep -q "memlag calibrate" err || fail "no remedy: $(cat err)"

"$MEMLAG" calibrate --quick --picture curves.svg >quick.txt
"$MEMLAG" calibrate --show >show.txt
cmp quick.txt show.txt
"$MEMLAG" calibrate --export json >calibration.json
"$MEMLAG" calibrate --show --picture missing/curves.svg >out 2>err && fail "drawn into a missing directory"
grep -q "cannot write missing/curves.svg" err || fail "$(cat err)"
[ ! -e missing ] || fail "a directory was made for the picture"
python3 - calibration.json curves.svg <<'EOF'
import json
import sys
import xml.dom.minidom

document = json.load(open(sys.argv[1]))
curve = document["caches"]["curve"]
assert len(curve) > 40
levels = document["caches"]["levels"]
assert len(levels) >= 2, levels
latencies = [level["latency_ns"] for level in levels]
latencies.append(document["memory"][0]["latency_ns"])
assert latencies == sorted(latencies), latencies
# A first-level cache is as large as the system says, and takes 3 to 6 cycles on every
# x86-64 of the last fifteen years.
first = levels[0]
if first["reported_bytes"]:
    assert 0.5 <= first["size_bytes"] / first["reported_bytes"] <= 1.5, first
assert 2.5 < first["latency_cycles"] < 7, first
assert latencies[-1] > 10 * latencies[0]
assert len(xml.dom.minidom.parse(sys.argv[2]).getElementsByTagName("circle")) > 40
EOF

# The simulated host has the measured latency of memory.
"$MEMLAG" record --source sim --sim-cpu host -o host.db -- "$MEMLAG" bench chase --size 64M --passes 1 \
        2>err || fail "$(cat err)"
python3 - calibration.json host.db <<'EOF'
import json
import sqlite3
import sys

document = json.load(open(sys.argv[1]))
expected = document["memory"][0]["latency_ns"] * document["clocks"]["core_ghz"]
database = sqlite3.connect(sys.argv[2])
(latency,) = database.execute(
    "SELECT avg(latency_cycles) FROM sample_view WHERE function LIKE 'chase%' "
    "AND level = 'DRAM' AND tlb = 'hit'"
).fetchone()
assert latency and 0.9 < latency / expected < 1.1, (latency, expected)
EOF

# ---- calibrate: bad conditions ----------------------------------------------------------
taskset -c "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" \
        "$MEMLAG" calibrate --quick >one.txt
grep -q "^note: one-cpu" one.txt || fail "one CPU is not said: $(cat one.txt)"

file=$(ls "$XDG_DATA_HOME"/memlag/*.json)
echo '{"format": 1,' >"$file"
"$MEMLAG" calibrate --show >out 2>err && fail "a damaged calibration was shown"
[ "$(wc -l <err)" -eq 1 ] || fail "a damaged calibration: $(cat err)"
echo '{"format": 99}' >"$file"
"$MEMLAG" calibrate --show >out 2>err && fail "a calibration of the future was shown"
grep -q "format 99" err || fail "a calibration of the future: $(cat err)"

touch blocked
XDG_DATA_HOME=$PWD/blocked "$MEMLAG" calibrate --quick >out 2>err && fail "kept in a file"
[ "$(wc -l <err)" -eq 1 ] || fail "no directory: $(cat err)"
