#!/bin/sh
# SPDX-License-Identifier: MIT
# Loads that follow a store to another page (aliases.c): one whose lowest 12 bits of the
# address overlap with the store's takes l1d.alias4k_cycles longer, and no other does.
. "$SOURCE_DIR/tests/integration/library.sh"

count=50000
cc -O1 -g "$SOURCE_DIR/tests/integration/aliases.c" -o aliases
total="SELECT CAST(total(value) AS INTEGER) FROM counter JOIN reading USING (counter_id) WHERE name ="

# record NAME DISTANCE COST: cycles and loads that alias
record()
{
        "$MEMLAG" record $SIM --no-heap --period 50 --sim-set l1d.alias4k_cycles="$3" \
                -o "$1.db" -- ./aliases "$2" $count >out 2>&1 || fail "record: $(cat out)"
        cycles=$(answer "$1.db" "$total 'cpu_clk_unhalted.thread'")
        aliases=$(answer "$1.db" "$total 'ld_blocks_partial.address_alias'")
}

record none 4160 7
base=$cycles
[ "$aliases" -lt 200 ] || fail "64 bytes apart $aliases loads alias"
record free 4096 0
[ "$aliases" = 0 ] && [ "$((cycles - base))" -lt $((count / 4)) ] || fail "an alias has a price without its key"
record same 4096 7
[ "$aliases" -ge $((count - 10)) ] && [ "$aliases" -lt $((count + 200)) ] || fail "$aliases loads alias"
tenths=$(((cycles - base) * 10 / count))
[ $tenths -ge 65 ] && [ $tenths -le 75 ] || fail "an alias takes $tenths tenths of a cycle, not 70"
line=$(grep -n '/\* aliases \*/' "$SOURCE_DIR/tests/integration/aliases.c" | cut -d: -f1)
# PERF_MEM_BLK_ADDR of linux/perf_event.h
[ "$(answer same.db "SELECT count(*) FROM sample_view JOIN sample USING (sample_id)
        JOIN data_source USING (data_source_id) WHERE line = $line AND raw >> 40 & 7 = 4")" -gt 500 ] ||
        fail "the loads are not sampled as blocked by an address"
record part 8196 7
[ "$aliases" -ge $((count - 10)) ] || fail "parts of words do not alias: $aliases"
