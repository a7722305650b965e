#!/bin/sh
# SPDX-License-Identifier: MIT
# Line use and working sets known by construction (line_use.c), with and without prefetchers; the
# report and its advice.
. "$SOURCE_DIR/tests/integration/library.sh"

cc -O1 -g "$SOURCE_DIR/tests/integration/line_use.c" -o line_use

# used FUNCTION: the mean bytes of each line
used()
{
        answer run.db "SELECT round(sum(bytes_used_per_line * lines) / sum(lines), 1)
                       FROM line_use_view WHERE function = '$1'"
}

# Without the time of page faults, which would come first in the report.
record()
{
        "$MEMLAG" record --source sim --sim-cpu skylake-sp --sim-prefetch $1 --period 47 \
                --sim-set kernel.fault_ns=0 --sim-set kernel.copy_gbs=10000 \
                --force -o run.db -- ./line_use >out 2>&1 || fail "record: $(cat out)"
}

for prefetch in off on; do
        record $prefetch
        holds run.db 1 "SELECT sum(lines) >= 1000 FROM line_use_view WHERE function = 'position_x'"
        expect "one field of eight ($prefetch)" "$(used position_x)" 8.0
        expect "two fields ($prefetch)" "$(used moments)" 16.0
        expect "all ($prefetch)" "$(used whole_lines)" 64.0
        expect "a repeated string instruction ($prefetch)" "$(used fill)" 64.0
done

# x and mass are used together in moments, and x alone in position_x: half of the lines.
# No access meets others or unused.
together()
{
        answer run.db "SELECT round(1.0 * used_lines / lines, 2) FROM field_use_view
                       WHERE type = 'struct particle' AND field = 'x' AND with_field = '$1'"
}
record off
holds run.db 0.5 "SELECT round(1.0 * used_lines / lines, 1) FROM field_use_view
        WHERE type = 'struct particle' AND field = 'x' AND with_field = 'mass'"
expect "x with others" "$(together 'others[]')" 0.0
expect "x with unused" "$(together 'unused[]')" 0.0

# The loops need caches of their arrays' sizes. Nothing repeats the last pass.
misses()
{
        answer run.db "SELECT round(100 * miss_ratio)
                       FROM working_set_view AS v JOIN data_object USING (object_id)
                       WHERE size_bytes = $1 AND cache_bytes = $2
                       ORDER BY v.lines DESC LIMIT 1"
}
mib=1048576
[ "$(misses $((mib * 3 / 8)) $((mib / 4)) | cut -d. -f1)" -ge 95 ] || fail "384 KiB in 256 KiB"
expect "384 KiB in 512 KiB" "$(misses $((mib * 3 / 8)) $((mib / 2)))" 0.0
[ "$(misses $((mib * 5)) $((mib * 4)) | cut -d. -f1)" -ge 75 ] || fail "5 MiB in 4 MiB: $(misses $((mib * 5)) $((mib * 4)))"
expect "5 MiB in 6 MiB" "$(misses $((mib * 5)) $((mib * 6)))" 0.0

"$MEMLAG" report --by object --cache-sizes run.db >out
grep -q 'main at line_use.c:[0-9]*' out || fail "no object in --cache-sizes: $(cat out)"
grep -q '\[the whole run\]' out || fail "not the whole run: $(cat out)"
expect "the first row of position_x" "$("$MEMLAG" report --by line-use --format json run.db | as_json '[
        abs(row["bytes_used_per_line"] - 8) < 0.1 for row in it["rows"] if row["function"] == "position_x"][0]')" True
"$MEMLAG" report run.db | tr -s ' \n' ' ' | grep -q 'Of each cache line 8 of 64 bytes are used' ||
        fail "no line use in the advice: $("$MEMLAG" report run.db)"
ends 2 "$MEMLAG" report --cache-sizes run.db >out
