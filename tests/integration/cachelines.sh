#!/bin/sh
# SPDX-License-Identifier: MIT
# Both sides of cache lines that threads fight for (cachelines.c), and which fields to part.
. "$SOURCE_DIR/tests/integration/library.sh"

cc -O1 -g -pthread "$SOURCE_DIR/tests/integration/cachelines.c" -o cachelines
record run $SIM --no-heap --period 13 -- ./cachelines
line_of() { grep -n "/\* $1 \*/" "$SOURCE_DIR/tests/integration/cachelines.c" | cut -d: -f1; }

# Of the first line two places, each of one thread and one source line; both are written.
for side in ours:0 theirs:8; do
        field=${side%:*}
        expect "the side of $field" "$(answer run.db "
                SELECT min(offset), max(offset), count(DISTINCT tid), min(line), max(line),
                       sum(hitm) >= 20, sum(writes) > 0, min(object_offset_bytes)
                FROM sharing_view WHERE field = '$field'")" \
                "${side#*:}|${side#*:}|1|$(line_of $field)|$(line_of $field)|1|1|${side#*:}"
done
holds run.db "2|1" "SELECT count(DISTINCT tid), count(DISTINCT line_address) FROM sharing_view
        WHERE field IN ('ours', 'theirs')"
# Of the second one place of two threads, with locked instructions that write.
holds run.db "2|1|0|1" "
        SELECT count(DISTINCT tid), count(DISTINCT offset), sum(reads), sum(hitm) >= 20
        FROM sharing_view WHERE field = 'total'"
holds run.db 0 "SELECT count(*) FROM sharing_view WHERE field = 'apart'"
holds run.db 1 "SELECT sum(v.stalled_ratio) <= (SELECT stalled_ratio FROM object_view
                                        WHERE object = 'counters') + 1e-9
        FROM sharing_view AS v WHERE object = 'counters'"

# Only the fields of the first line can be parted.
holds run.db "ours|theirs|counters|counters" "
        SELECT field, other_field, object, other_object FROM sharing_pair_view
        WHERE object = 'counters'"
# Without samples of stores they are the same.
changed run.db loads.db "DELETE FROM sample WHERE data_source_id IN
        (SELECT data_source_id FROM data_source WHERE op = 'store')"
holds loads.db "ours|theirs" "SELECT field, other_field FROM sharing_pair_view
        WHERE object = 'counters'"

"$MEMLAG" report --by cacheline --format json run.db >cachelines.json
holds run.db "$(as_json 'sum(r["hitm"] for r in it["rows"])' <cachelines.json)" 'SELECT sum(hitm) FROM sharing_view'
"$MEMLAG" report --by cacheline run.db >table || fail "no table"
grep -q 'Put ours and theirs of counters on' table || fail "nothing to part: $(cat table)"

# Of two elements with one name it says so once, with the samples of the other side.
changed run.db twice.db "UPDATE sample SET addr = addr + 8 WHERE sample_id % 2 AND sample_id IN
        (SELECT sample_id FROM attribution JOIN type_field USING (field_id) WHERE name = 'theirs')"
holds twice.db 2 "SELECT count(*) FROM sharing_pair_view
        WHERE field = 'ours' AND other_field = 'theirs'"
"$MEMLAG" report --by cacheline twice.db >table || fail "no table"
expect "advice on ours and theirs" "$(grep -c 'Put ours and theirs' table)" 1
# Of elements with two fields in several lines too.
changed run.db array.db "UPDATE sample SET addr = addr + 64 * (sample_id % 3) WHERE sample_id IN
        (SELECT sample_id FROM attribution JOIN type_field USING (field_id) WHERE name IN ('ours', 'theirs'));
        UPDATE attribution SET field_id = (SELECT field_id FROM type_field WHERE name = 'ours')
        WHERE sample_id % 2 AND field_id = (SELECT field_id FROM type_field WHERE name = 'theirs')"
holds array.db 1 "SELECT count(DISTINCT field || other_field) > 1 FROM sharing_pair_view WHERE object = 'counters'"
"$MEMLAG" report --by cacheline array.db >table || fail "no table"
expect "advice on an array" "$(grep -c 'of counters' table)" 1

# Where no line has samples enough, the object has.
changed run.db unjudged.db "UPDATE line_finding SET verdict = 'too-few-samples'"
"$MEMLAG" report unjudged.db >brief || fail "no report"
says 'in counters: sharing (--by cacheline)' brief
