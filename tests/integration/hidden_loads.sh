#!/bin/sh
# SPDX-License-Identifier: MIT
# Loads from L2 beside other work (hidden_loads.c). What waiting for them costs is known:
# the cycles of the same program with its lines in L1, subtracted. Where that is next to
# nothing the report gives no advice on them, and where it is much it is silent on that.
. "$SOURCE_DIR/tests/integration/library.sh"

cc -O1 -g "$SOURCE_DIR/tests/integration/hidden_loads.c" -o hidden_loads
# The cost of first touches of memory is excluded.
FREE_KERNEL="--sim-cpu skylake-sp --sim-set kernel.fault_ns=0 --sim-set kernel.call_ns=0
        --sim-set kernel.copy_gbs=10000"
nothing="Waiting for memory is not what this program's time goes to\."

# cycles NAME ARGUMENTS: the cycles of a run. So many samples (50 000) estimate all loads within
# half a per cent. With one load in 500, a few slow ones at the start would change more. With lines
# in L1 its hits are samples too.
cycles()
{
        name=$1
        shift
        least=10
        [ "$name" = "${name%_near}" ] || least=1
        record $name $SIM $FREE_KERNEL --ldlat "$least" --period 20 -- ./hidden_loads "$@"
        "$MEMLAG" report -v "$name.db" >"$name.txt" 2>&1 || fail "report: $(cat "$name.txt")"
        tr '\n' ' ' <"$name.txt" >"$name.prose"
        cycles_of "$name.db"
}

# saved NAME NEAR FAR: the stalled time of loads from L2 minus the stalled time of L1 loads in their
# place equals the time that the program saves with L1, within 1 % of its cycles.
saved()
{
        for where in near far; do
                sed -n 's/.* was stalled on memory accesses for \([0-9.]*\)% .*/\1/p' "$1_$where.prose" >"$where.told"
        done
        awk -v told="$(cat far.told)" -v told_near="$(cat near.told)" -v near="$2" -v far="$3" 'BEGIN {
                wrong = told - told_near * near / far - 100 * (1 - near / far)
                exit !(told != "" && told_near != "" && wrong > -1 && wrong < 1) }' ||
                fail "$1: samples say $(cat far.told)% of $3 cycles, and $(cat near.told)% of $2 with L1"
}

near=$(cycles beside_near beside near)
far=$(cycles beside_far beside far)
[ $((far * 100)) -le $((near * 105)) ] || fail "work does not hide L2: $far cycles, $near of L1"
saved beside "$near" "$far"
says "$nothing" beside_far.prose
holds beside_far.db none "SELECT DISTINCT verdict FROM line_view WHERE function = 'beside'
        AND latency_share > 0.5"

near=$(cycles hash_near hash near)
far=$(cycles hash_far hash far)
saved hash "$near" "$far"
[ $((far * 100)) -ge $((near * 115)) ] || fail "work hides L2: $far cycles, $near of L1"
lacks "$nothing" hash_far.prose
# A counter of every cycle with any execution finds few other cycles here.
sqlite3 hash_far.db "UPDATE reading SET value = value / 100 WHERE counter_id =
                     (SELECT counter_id FROM counter
                      WHERE name = 'cycle_activity.stalls_l1d_pending')"
! "$MEMLAG" report -v hash_far.db | tr '\n' ' ' | grep -q "$nothing" ||
        fail "loads that cost time are said to cost none on another core"
says '^cache: ' hash_far.txt

# Cycles that execute nothing beside a load that is under way may wait for something else.
near=$(cycles sum_near sum near)
far=$(cycles sum_far sum far)
[ $((far * 100)) -le $((near * 105)) ] || fail "a chain of additions does not hide L2: $far cycles, $near of L1"
holds sum_far.db 1 "
        SELECT 1.0 * sum(latency_cycles) FILTER (WHERE bound = 'compute') / sum(latency_cycles) > 0.8
        FROM sample_view JOIN interval USING (interval_id)"
holds sum_far.db 1 "SELECT sum(value) FILTER (WHERE name = 'cycle_activity.stalls_l1d_pending')
        > 0.2 * sum(value) FILTER (WHERE name = 'cpu_clk_unhalted.thread')
        FROM counter JOIN reading USING (counter_id)"
lacks "The gain from faster loads lies" sum_far.prose
saved sum "$near" "$far"
# The samples tell that it was not the loads, and what else it can have been.
chains="waited for other instructions, .* beside the loads at hidden_loads\.c:[0-9]*"
says "$chains" sum_far.prose
for other in beside_far hash_far; do
        lacks "waited for other instructions" $other.prose
done
# Samples of most processors have no time of retirement: the report then says that the stalled time
# is unknown.
sqlite3 sum_far.db "UPDATE sample SET retire_latency_cycles = NULL"
"$MEMLAG" analyze sum_far.db
"$MEMLAG" report -v sum_far.db | tr '\n' ' ' | grep -q "The gain from faster loads is not known" ||
        fail "the report is silent on work beside loads: $(cat sum_far.txt)"

# held_up NAME ARGUMENT: the stalled time of a run, in per cent. With --freq the report gives the
# possible gain, without the slots in which the loads retire: they stay when nothing waits.
held_up()
{
        rm -f "freq_$1.db"
        record freq_$1 $SIM $FREE_KERNEL --freq 50000 -- ./hidden_loads "$1" "$2"
        "$MEMLAG" report -v "freq_$1.db" 2>&1 | tr '\n' ' ' | sed -n 's/.* in all (.*; \([0-9.]*\)% can be gained.*/\1/p'
}

# Loads that hit L1 wait too, where they are a part of the chain.
for what in beside hash sum; do
        told=$(held_up "$what" far)
        told_near=$(held_up "$what" near)
        near=$(cycles_of "${what}_near.db")
        far=$(cycles_of "${what}_far.db")
        awk -v told="$told" -v told_near="$told_near" -v near="$near" -v far="$far" 'BEGIN {
                gain = 100 * (1 - near / far)
                more = told - told_near * near / far
                exit !(told != "" && told_near != "" && more > gain - 2 && more < gain + 2) }' ||
                fail "$what: loads hold up $told% of $far cycles and $told_near% of $near with L1"
done

# If nothing waits, the core retires the most it can in a cycle. Its further time is the most that
# loads can have cost.
told=$(held_up reads near)
lost=$(answer freq_reads.db "
        SELECT 100 * (1 - sum(value) FILTER (WHERE name = 'inst_retired.any')
        / 4 / sum(value) FILTER (WHERE name = 'cpu_clk_unhalted.thread'))
        FROM counter JOIN reading USING (counter_id)")
holds freq_reads.db 1 "SELECT 1.0 * sum(value) FILTER (WHERE name = 'mem_inst_retired.all_loads')
        / sum(value) FILTER (WHERE name = 'inst_retired.any') > 0.2
        FROM counter JOIN reading USING (counter_id)"
awk -v told="$told" -v lost="$lost" 'BEGIN { exit !(told != "" && told < lost + 2) }' ||
        fail "reads: loads that never wait hold up $told% of the cycles, of which $lost% are lost"
