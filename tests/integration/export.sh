#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag export: each format has the paths and sums of the calling-context tree (export.py), of a
# program with a function that calls itself; and what cannot be drawn.
. "$SOURCE_DIR/tests/integration/library.sh"

"$CC" -g -O1 -fno-optimize-sibling-calls -pthread -o tree "$SOURCE_DIR/tests/integration/export.c"
"$MEMLAG" record $SIM -o t.db -- ./tree 2>record.err
python3 "$SOURCE_DIR/tests/integration/export.py" "$MEMLAG" t.db || fail "see above"

# Unknown weights are not drawn: a timer's samples only have shares of time.
"$MEMLAG" record --source clock -o clock.db -- ./tree 2>record.err
refused() # refused PATTERN ARGUMENT...: it says why, and has no other output
{
        pattern=$1
        shift
        refuses 1 "$pattern" "$MEMLAG" export "$@"
        [ ! -s out ] || fail "a failed export has output: $*"
}
refused 'weight=stalled: the recording does not tell' --weight stalled clock.db
"$MEMLAG" export clock.db >clock.folded
"$MEMLAG" export --weight latency clock.db | cmp - clock.folded || fail "not time by default"
says '^measured by clock.*;chase [0-9]*$' clock.folded
"$MEMLAG" export --format callgrind clock.db | grep -q '^events: Time Samples$' || fail "not a timer's events"

# A recording without latencies has samples; one without samples gives no picture.
changed clock.db bare.db "UPDATE caller_finding SET self_latency_share = NULL, latency_share = NULL"
refused 'there is --weight=samples' bare.db
refused 'there is --weight=samples' --weight latency bare.db
"$MEMLAG" export --weight samples bare.db | grep -q ';chase [0-9]*$' || fail "no samples"
sqlite3 bare.db "DELETE FROM caller_finding"
for format in folded callgrind svg speedscope firefox pprof; do
        refused 'bare.db has no samples of memory accesses' --format $format bare.db
done
# Numbers beyond any sum.
changed t.db huge.db "UPDATE caller_finding SET samples = 9223372036854775807, latency_share = 1e300"
for format in callgrind svg speedscope firefox pprof; do
        "$MEMLAG" export --format $format huge.db >/dev/null || fail "huge numbers: $format"
done

for wrong in "--weight heat" "--format png" "--format callgrind --weight samples" "--format pprof --weight samples" "t.db t.db" "-i t.db clock.db"; do
        # shellcheck disable=SC2086
        ends 2 "$MEMLAG" export $wrong >out
done
