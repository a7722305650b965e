#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag whatif: gains equal the differences of separate recordings with the same settings. The
# command's environment, and refusals.
. "$SOURCE_DIR/tests/integration/library.sh"

CHASE="$BINARY_DIR/examples/chase 20000 100000"
SKYLAKE="--sim-cpu skylake-sp --sim-prefetch off --period 97"

"$MEMLAG" whatif $SKYLAKE -o run.db -- $CHASE >out 2>err || { cat err; fail "whatif failed"; }
[ "$(wc -l <out)" = 1 ] || fail "the command's output appears more than once: $(cat out)"
ls | grep '\.tmp' && fail "files of the extra runs are left"

# The same by hand: L3, where the ring is, has 15 cycles in place of 55, L2 has 6 in place of 14
# (presets/skylake-sp.conf). A page fault more or less is 0.0004 of the cycles.
holds run.db l3.latency_cycles=15 "SELECT settings FROM whatif_run WHERE fix = 'l3-latency'"
for fix in l3-latency l2; do
        settings=$(answer run.db "SELECT settings FROM whatif_run WHERE fix = '$fix'")
        options=
        for setting in $settings; do options="$options --sim-set $setting"; done
        record $fix $SKYLAKE $options -- $CHASE
        holds run.db 1 "SELECT abs(1 - gain_ratio - $(cycles_of $fix.db) * 1.0 / $(cycles_of run.db)) < 0.002
                FROM gain_view WHERE fix = '$fix' AND kind = 'recorded'"
done

# The loads of a chase are dependent, so the estimate is nearly exact.
holds run.db "3 of 3" "
        SELECT count(*) || ' of ' || count(*) FILTER (WHERE abs(e.gain_ratio - r.gain_ratio) < 0.03)
        FROM gain_view AS e JOIN gain_view AS r USING (fix)
        WHERE e.kind = 'estimate' AND r.kind = 'recorded'
        AND fix IN ('l3-latency', 'l2', 'page-faults')"
# Its gain is the walk's.
holds run.db "walk 1 1" "
        SELECT function || ' ' || (abs(l.gain_ratio - g.gain_ratio) < 0.05) || ' ' ||
        (l.low <= l.gain_ratio AND l.gain_ratio <= l.high)
        FROM line_gain_view AS l JOIN gain_view AS g USING (fix, kind)
        WHERE fix = 'l3-latency' AND kind = 'recorded' ORDER BY l.gain_ratio DESC LIMIT 1"
"$MEMLAG" report run.db | grep -q 'If L3 were as near as L2: -[0-9]* %' ||
        fail "the report does not tell: $("$MEMLAG" report run.db)"
# Findings can be made again.
before=$(answer run.db "SELECT group_concat(fix || gain_ratio) FROM gain_view")
"$MEMLAG" analyze run.db
holds run.db "$before" "SELECT group_concat(fix || gain_ratio) FROM gain_view"

# If the data of a chase comes in time, each step takes 5 cycles, as from L1. The walk then stalls
# for at most a few per cent of its earlier time.
name=$(sqlite3 -readonly run.db "SELECT fix FROM whatif_run WHERE fix LIKE 'line:chase.c:%=in-time' LIMIT 1")
holds run.db 1 "
        SELECT l.gain_ratio > 0.9 * v.stalled_ratio FROM line_gain_view AS l JOIN line_view AS v USING (line_id)
        WHERE l.kind = 'recorded' AND l.fix = '$name' AND l.function = 'walk' ORDER BY l.gain_ratio DESC LIMIT 1"
"$MEMLAG" report run.db | grep -q 'If the data of chase.c:[0-9]* came in time: -[0-9]* %' ||
        fail "the report does not tell of the line"

# Huge pages are tried for each large object with page faults.
cat >arrays.c <<'END'
#include <stdlib.h>
#include <string.h>
enum { BYTES = 2 << 20 };
int main(void)
{
        char *a = malloc(BYTES), *b = malloc(BYTES), *c = malloc(BYTES), *d = malloc(BYTES);
        memset(a, 1, BYTES), memset(b, 2, BYTES), memset(c, 3, BYTES), memset(d, 4, BYTES);
        return a[5] + b[6] + c[7] + d[8] - 10;
}
END
"$CC" -O0 -g arrays.c -o arrays
"$MEMLAG" whatif $SKYLAKE -o arrays.db -- ./arrays 2>err || fail "arrays: $(cat err)"
holds arrays.db 4 "SELECT count(*) FROM whatif_run WHERE fix GLOB 'object:*=hugepages'"
# Without an impossible fix the others that were asked for are tried, and shown if they gain nothing.
ends 1 "$MEMLAG" whatif $SKYLAKE -o some.db --fix object:nothing=local --fix sharing -- ./arrays
holds some.db sharing "SELECT group_concat(fix) FROM whatif_run"
"$MEMLAG" report --summary some.db | grep -q '^If .*: 0 % ' || fail "no gain is not shown: $("$MEMLAG" report some.db)"

# Asked for fixes are tried alone; the command's status is whatif's; each run reads the input anew,
# also where the kernel keeps no status of children.
printf 'input\n' >input
ends 3 env --ignore-signal=CHLD "$MEMLAG" whatif $SKYLAKE --fix l2 --fix translation+buffers -o asked.db -- \
        sh -c 'read -r line; echo "$line" >>lines; exit 3' <input >out
expect "the fixes" "$(sqlite3 -readonly asked.db "SELECT group_concat(fix, ' ') FROM (SELECT fix FROM whatif_run ORDER BY fix)")" "l2 translation+buffers"
expect "what the runs have read" "$(sort lines | uniq -c | tr -s ' ')" " 3 input"

# Nothing to gain: one run more, and no other.
"$MEMLAG" whatif $SKYLAKE -o idle.db -- sh -c 'i=0; while [ $i -lt 15000 ]; do i=$((i + 1)); done' >/dev/null 2>err
runs=$(sqlite3 -readonly idle.db "SELECT group_concat(fix) FROM whatif_run")
says 'nothing to gain'
expect "runs" "$runs" memory

# A command that a signal ends has its status and no gains; a message says so. A high status is like
# any other.
printf 'int main(int c, char **v) { if (c > 1) *(volatile int *)0 = 1; return 200; }' >ends.c
"$CC" -w -O1 -o ends ends.c
refuses 139 '^memlag whatif: ' "$MEMLAG" whatif $SKYLAKE --fix l2 -o crash.db -- ./ends early
holds crash.db 0 "SELECT count(*) FROM whatif_run"
ends 200 "$MEMLAG" whatif $SKYLAKE --fix l2 -o high.db -- ./ends
holds high.db 1 "SELECT count(*) FROM whatif_run"

# A run that does otherwise does not count.
refuses 1 'does not count: the command ended with another status' \
        "$MEMLAG" whatif $SKYLAKE --fix l2 -o other.db -- sh -c 'mkdir made'
holds other.db 0 "SELECT count(*) FROM whatif_run"

# What cannot be answered.
refused()
{
        ends 2 "$MEMLAG" whatif "$@" >out </dev/null
}
refused -p 1
refused -a
refused --source clock -- true
refused --freq 100 -- true
refused --duration 1 -- true
refused --sim-detail cache -- true
refused --fix line:chase.c=in-time -- true
refuses 2 "no fix 'faster'" "$MEMLAG" whatif --fix faster -- true </dev/null
echo input | refuses 2 'read only once' "$MEMLAG" whatif -- cat
[ ! -e memlag.db ] || fail "a refused command was recorded"
