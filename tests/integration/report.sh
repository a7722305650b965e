#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag report on a recording whose truth is known (synthetic.sql).
set -eu
. "$SOURCE_DIR/tests/integration/synthetic.sh"

synthetic_database memlag.db
"$MEMLAG" analyze

# ---- for people ---------------------------------------------------------------
"$MEMLAG" report >out
expect "the first line" "$(head -1 out)" \
        "memlag: modelled by the simulated PMU (made-up), not measured: ./made-up --quick"
tr '\n' ' ' <out >prose
for words in "885 samples" "7 records lost" "4 of 10 intervals, 40% of the time" \
        "waited 400 cycles" "88% dram-contention" "30 samples: no line (symbolize)"; do
        grep -q "$words" prose || fail "the report does not say '$words'"
done
# The worst line first: its share is 200000 of 228000.
grep -A1 '^ *latency ' out | tail -1 | grep -q '87.7%.* dram-contention .*stream.c:10 .*stream' ||
        fail "stream.c:10 is not the first line"
expect "colours in a pipe" "$(grep -c "$(printf '\033')" out || true)" 0

# --help names all that rows may stand for.
"$MEMLAG" report --help | tr -s ' \n' '  ' >help
for by in line function object caller allocation type interval phase; do
        "$MEMLAG" report --by $by memlag.db >/dev/null || fail "--by $by"
        grep -q "stands for:.* $by\>" help || fail "--help does not say --by $by"
done

# A dram verdict beside a small DRAM column is explained, and nothing else is.
waits='waited for a line'
! tr '\n' ' ' <out | grep -q "$waits" || fail "waits for lines are explained without need"
cp memlag.db lines.db
sqlite3 lines.db "UPDATE line_finding SET dram_samples = 0 WHERE line = 10"
"$MEMLAG" report lines.db | tr '\n' ' ' | grep -q "$waits" ||
        fail "a dram verdict without samples from DRAM is not explained"
"$MEMLAG" report --by interval lines.db >/dev/null
# The ledger names a unit once.
sqlite3 lines.db "UPDATE ledger SET kind = 'samples with no line' WHERE kind = 'no line'"
"$MEMLAG" report lines.db | grep -q '^  30 samples with no line (symbolize)$' ||
        fail "the ledger says its unit twice"

# Latency is not time: said where loads overlap, with what to do about it.
overlap='at a time: loads that overlap count each, so that shares of latency are not shares of time; for those record with --freq.'
"$MEMLAG" report lines.db | tr '\n' ' ' | grep -qe "$overlap" || fail "loads that overlap are not told"
sqlite3 lines.db "UPDATE run SET value = 'pebs' WHERE key = 'source'"
"$MEMLAG" report lines.db | tr '\n' ' ' | grep -q 'for those record with --source clock\.' ||
        fail "the timer is not named on hardware"
sqlite3 lines.db "UPDATE run SET value = 100 WHERE key = 'period_loads'"
! "$MEMLAG" report lines.db | tr '\n' ' ' | grep -qe "$overlap" || fail "loads that do not overlap are said to"
# Half of the latency on lines with few samples: record more of them.
few='too few samples: record a longer run, or with a smaller --period than 100\.'
! "$MEMLAG" report lines.db | tr '\n' ' ' | grep -qe "$few" || fail "advice on samples without need"
sqlite3 lines.db "UPDATE line_finding SET verdict = 'too-few-samples' WHERE line = 10"
"$MEMLAG" report lines.db | tr '\n' ' ' | grep -qe "$few" || fail "no advice on too few samples"
sqlite3 lines.db "UPDATE run SET value = 1 WHERE key = 'period_loads'"
! "$MEMLAG" report lines.db | grep -q "record a longer" || fail "advice on what cannot matter"

# ---- source text ----------------------------------------------------------------
mkdir src
seq -f 'text of line %g' 1 30 >src/stream.c
sqlite3 memlag.db "
        UPDATE location SET file = '$PWD' || file; UPDATE line_finding SET file = '$PWD' || file"
"$MEMLAG" report >out
grep -q '^  > *10  text of line 10$' out || fail "the worst line's text is not shown"
grep -q '^ *12  text of line 12$' out || fail "the lines around it are not shown"
! "$MEMLAG" report --no-source | grep -q 'text of line' || fail "--no-source shows source"
sqlite3 memlag.db "UPDATE line_finding SET module = '$PWD/program' WHERE module <> ''"
touch -d '2020-01-01' program
"$MEMLAG" report | grep -q 'newer than the program' || fail "a changed source is not told"
# Not everything that a path names is a text to read.
rm src/stream.c
mkfifo src/stream.c
timeout 10 "$MEMLAG" report >out || fail "a FIFO in place of a source"
tr "\n" " " <out | grep -q "Source text not found: .*:[0-9]" || fail "a missing source is not told"

# ---- every kind, every format ---------------------------------------------------
for by in line function object caller interval; do
        "$MEMLAG" report --by $by >/dev/null
        "$MEMLAG" report --by $by --format csv >$by.csv
        "$MEMLAG" report --by $by --format json >$by.json
        python3 -m json.tool $by.json >/dev/null || fail "--by $by: not JSON"
done
expect "the columns of line_view, and where the numbers come from" "$(head -1 line.csv)" \
"module,function,file,line,samples,dram_samples,mean_latency_cycles,p95_latency_cycles,latency_share,contended_samples,verdict,source,numbers"
expect "the worst function" "$(sed -n 2p function.csv | cut -d, -f2,3,9)" \
        "stream,400,dram-contention"
expect "the worst object" "$(sed -n 2p object.csv | cut -d, -f1,2,13-)" \
        "heap,orders,dram-contention,sim,modelled"
expect "the intervals" "$(tail -n +2 interval.csv | wc -l)" 10
expect "the most contended interval" "$(sed -n 2p interval.csv | cut -d, -f10,11)" "1,bandwidth"
expect "JSON" "$(python3 -c '
import json
report = json.load(open("line.json"))
row = report["rows"][0]
print(report["numbers"], report["run"]["samples"], row["function"], row["line"], row["verdict"],
      [l["value"] for l in report["ledger"] if l["kind"] == "no line"])')" \
        "modelled 885 stream 10 dram-contention [30]"
expect "rows of --top" "$("$MEMLAG" report --top 2 --format csv | wc -l)" 3
expect "all rows" "$("$MEMLAG" report --top 0 --format csv | wc -l)" 7

# ---- hostile names ----------------------------------------------------------------
cp memlag.db names.db
sqlite3 names.db "UPDATE line_finding
        SET function = CAST(x'1b5b324a2c220aff00e282ac' AS TEXT) WHERE line = 10"
"$MEMLAG" report names.db >out
expect "an escape sequence reaches the terminal" "$(grep -c "$(printf '\033')" out || true)" 0
grep -q '\\x1b\[2J,"\\n\\xff' out || fail "the name is not shown with escapes"
"$MEMLAG" report names.db --format json | python3 -c '
import json, sys
name = json.load(sys.stdin)["rows"][0]["function"]
assert name.startswith("\x1b[2J,\"\n\ufffd"), ascii(name)' || fail "the name in JSON"
"$MEMLAG" report names.db --format csv | python3 -c '
import csv, io, sys
text = sys.stdin.buffer.read().replace(b"\0", b"?").decode("latin-1")
rows = list(csv.reader(io.StringIO(text, newline="")))
assert len({len(row) for row in rows}) == 1, rows
assert rows[1][1].startswith("\x1b[2J,\"\n\xff"), rows[1]' || fail "the name in CSV"

# ---- a recording that was cut off before it was analysed --------------------------
synthetic_database cut.db
sqlite3 cut.db "UPDATE run SET value = 'recording' WHERE key = 'state';
        DELETE FROM run WHERE key = 'duration_ns'"
cp cut.db locked.db
"$MEMLAG" report cut.db >out 2>err
grep -q 'cut off' out || fail "a cut-off recording is not told"
grep -q 'not been analysed' err || fail "the analysis that the report made is not told"
grep -q 'dram-contention' out || fail "a cut-off recording is not analysed"
grep -q 'Duration 0.010 s' out || fail "the duration of a cut-off recording"
if [ "$(id -u)" != 0 ]; then
        chmod a-w locked.db
        status=0; "$MEMLAG" report locked.db >out 2>err || status=$?
        expect "status on a read-only file" $status 1
        grep -q "memlag analyze" err || fail "no advice for a read-only file"
fi

# ---- pipes, full disks, bad usage --------------------------------------------------
"$MEMLAG" report --by interval --top 0 | head -1 >/dev/null
if [ -e /dev/full ]; then
        status=0; "$MEMLAG" report >/dev/full 2>err || status=$?
        expect "status with a full disk" $status 1
        grep -q 'cannot write' err || fail "no message about a full disk"
fi
for bad in '--by nothing' '--format xml' '--top -1' '--top x' 'a b'; do
        status=0
        # shellcheck disable=SC2086 # options with their values
        "$MEMLAG" report $bad >out 2>err || status=$?
        expect "status of '$bad'" $status 2
done
