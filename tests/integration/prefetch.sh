#!/bin/sh
# SPDX-License-Identifier: MIT
# Patterns of addresses that are known by construction (prefetch.c), prefetches at the
# distance that prefetch_view says, and the gain of huge pages beside a run with them.
. "$SOURCE_DIR/tests/integration/library.sh"

cc -O2 -g -fno-tree-vectorize "$SOURCE_DIR/tests/integration/prefetch.c" -o prefetch
few_pages="--sim-set dtlb.entries=16 --sim-set dtlb.ways=16 --sim-set stlb.entries=96"
no_faults="--sim-set kernel.fault_ns=0 --sim-set kernel.copy_gbs=10000"

# record OPTION... -- ARGUMENT...
record()
{
        "$MEMLAG" record --source sim --sim-cpu skylake-sp --sim-prefetch off --period 97 \
                $no_faults --force -o run.db "$@" >out 2>&1 || fail "record: $(cat out)"
}

# of FUNCTION COLUMN: of the access with most latency
of()
{
        answer run.db "SELECT $2 FROM prefetch_view WHERE function = '$1'
                       ORDER BY samples * latency_cycles DESC LIMIT 1"
}

record -- ./prefetch
expect "an index" "$(of gather pattern)" index
expect "a list" "$(of list pattern)" chain
expect "a stride" "$(of stride pattern)" stride
expect "its bytes" "$(of stride stride_bytes)" 4160
expect "a random number" "$(of computed pattern)" computed
expect "a list's distance" "$(of list "coalesce(distance_iterations, 'none')")" none
expect "a binary search's distance" "$(of search "coalesce(distance_iterations, 'none')")" none
record -- ./prefetch list
"$MEMLAG" report run.db | tr -s '\n ' ' ' >report
grep -q "No prefetch can be in time" report || fail "no word on the list: $(cat report)"

# Prefetches so far ahead are in time: the loads no longer stall.
stalled()
{
        answer run.db "SELECT CAST(total(stalled_ratio) * (SELECT total(value) FROM reading
                       JOIN counter USING (counter_id) WHERE name = 'cpu_clk_unhalted.thread')
                       AS INTEGER) FROM line_view WHERE function = 'gather'"
}
record -- ./prefetch gather
distance=$(of gather distance_iterations)
without=$(stalled)
record -- ./prefetch gather "$distance"
with=$(stalled)
[ $((with * 10)) -le "$without" ] || fail "$distance ahead: $without cycles, then $with"

# A page walk for each load, with few entries in the TLBs.
record $few_pages -- ./prefetch pages
estimate=$(answer run.db "SELECT round(100 * gain_ratio) FROM object_gain_view
                          WHERE fix = 'hugepages' AND object LIKE 'make_nodes%'" | cut -d. -f1)
"$MEMLAG" whatif --sim-cpu skylake-sp --sim-prefetch off --period 97 $no_faults $few_pages \
        --fix object:make_nodes=hugepages --force -o what.db -- ./prefetch pages >out 2>&1 ||
        fail "whatif: $(cat out)"
gain=$(answer what.db "SELECT round(100 * gain_ratio) FROM gain_view WHERE kind = 'recorded'" |
        cut -d. -f1)
[ "$estimate" -ge 5 ] && [ "$estimate" -ge $((gain - 5)) ] && [ "$estimate" -le $((gain + 5)) ] ||
        fail "huge pages: estimate $estimate %, gain $gain %"
