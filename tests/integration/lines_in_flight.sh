#!/bin/sh
# SPDX-License-Identifier: MIT
# Hits of fill buffers that wait longer than an idle cache takes, without DRAM (lines_in_flight.c):
# they count for the cause of the line's wait. And loads that wait for a buffer in bursts shorter
# than an interval.
. "$SOURCE_DIR/tests/integration/library.sh"

cc -O1 -g -pthread "$SOURCE_DIR/tests/integration/lines_in_flight.c" -o lines
record run $SIM --sim-cpu skylake-sp -- ./lines
"$MEMLAG" report -v run.db >out 2>&1 || fail "report: $(cat out)"

# limit: 1.25 times the latency of the last cache
slow_hits()
{
        answer run.db "
                SELECT count(*) FROM sample_view WHERE function = '$1' AND level = 'LFB'
                AND latency_cycles > 1.25 * (SELECT value FROM machine
                                             WHERE key = 'l3_latency_cycles')"
}
for function in take scatter; do
        [ "$(slow_hits $function)" -ge 100 ] || fail "no slow hits of a buffer in $function"
done
verdicts()
{
        answer run.db "SELECT DISTINCT verdict FROM line_view WHERE function = '$1'
                       AND verdict NOT IN ('too-few-samples', 'page-faults')"
}
expect "lines another core has written" "$(verdicts take)" sharing
expect "more lines of a cache than buffers" "$(verdicts scatter)" cache
expect "more lines of DRAM than buffers" "$(verdicts burst)" in-core
# Where stores do not take the buffers as well.
burst_samples()
{
        answer run.db "
                SELECT count(*) FROM sample_view JOIN interval_view USING (interval_id)
                WHERE function = 'burst' AND $1 AND interval_id NOT IN (
                        SELECT interval_id FROM sample_view WHERE function = 'scatter')"
}
[ "$(burst_samples true)" -ge 100 ] || fail "no interval has bursts alone"
expect "intervals that the bursts do not bind" "$(burst_samples "bound = 'in-core'")" 0
