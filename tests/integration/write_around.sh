#!/bin/sh
# SPDX-License-Identifier: MIT
# Non-temporal stores (write_around.c): whole lines go to memory without being read, parts
# of lines are read there, and the lines are in no cache afterwards.
. "$SOURCE_DIR/tests/integration/library.sh"

cc -O2 -g "$SOURCE_DIR/tests/integration/write_around.c" -o write_around
megabytes="SELECT CAST(round(sum(value) / 1048576.0) AS INTEGER) FROM counter JOIN reading
        USING (counter_id) WHERE name ="

# record WAY: READ and WRITTEN MB of two passes over 8 MB, without the rest of the program.
record()
{
        "$MEMLAG" record $SIM --no-heap --sim-set l3.size_bytes=1441792 -o "$1.db" -- \
                ./write_around "$1" >out 2>&1 || fail "record: $(cat out)"
        read_mb=$(answer "$1.db" "$megabytes 'dram.read_bytes'")
        written_mb=$(answer "$1.db" "$megabytes 'dram.write_bytes'")
}

# near WHAT VALUE EXPECTED: within 2.4 MB, the size of the caches
near()
{
        [ "$2" -ge "$(($3 - 3))" ] && [ "$2" -le "$(($3 + 3))" ] || fail "$1: $2 MB, not $3"
}

record nothing
idle_read=$read_mb idle_written=$written_mb
record plain
near "plain stores read" $((read_mb - idle_read)) 16
record whole
near "whole lines read" $((read_mb - idle_read)) 0
near "whole lines are written" $((written_mb - idle_written)) 16
record part
near "parts of lines are read" $((read_mb - idle_read)) 16
near "parts of lines are written" $((written_mb - idle_written)) 16
record read
near "lines are read again" $((read_mb - idle_read)) 8

# The stores have a line, which stalls; without the reads the fill is faster.
holds whole.db 1 "SELECT count(*) > 50 FROM sample_view WHERE function = '_mm_stream_si128'
        AND op = 'store' AND level = 'DRAM'"
[ "$(cycles_of whole.db)" -lt "$(cycles_of plain.db)" ] || fail "whole lines take longer than plain stores"
