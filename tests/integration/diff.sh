#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag diff of recordings with known truth (synthetic.sql, 1000 loads a sample, 72 080 000
# cycles), and of programs in which one line became cheaper.
. "$SOURCE_DIR/tests/integration/library.sh"

# column DATABASES COLUMNS CONDITION: of the rows as CSV, whose values are text
column()
{
        "$MEMLAG" diff --format csv $1 >rows.csv || fail "diff $1"
        sqlite3 -csv :memory: ".import rows.csv r" "SELECT $2 FROM r WHERE $3"
}

refused()
{
        ends 1 "$MEMLAG" diff "$@" >out
        expect "lines on standard error" "$(wc -l <err)" 1
        [ ! -s out ] || fail "diff $*: printed $(cat out)"
}

# ---- figures that follow from the recording ----

synthetic_database before.db "
        UPDATE sample SET retire_latency_cycles = 0;
        UPDATE sample SET retire_latency_cycles = 180 WHERE ip = 0x401020;"
changed before.db after.db "UPDATE sample SET retire_latency_cycles = 45 WHERE ip = 0x401020;"
"$MEMLAG" analyze before.db
"$MEMLAG" analyze after.db
walk="function = 'walk'"
for by in line function; do
        expect "the walk by $by" "$(column "--by $by before.db after.db" \
                'round("before"), round("after"), round(difference), verdict, figure, unit' \
                "$walk")" "18000000.0,4500000.0,-13500000.0,better,stalled,cycles"
done
expect "the ring" "$(column "--by object before.db after.db" \
        'round("before"), round("after"), verdict' "object = 'ring'")" "18000000.0,4500000.0,better"
expect "the range holds the change" "$(column "before.db after.db" \
        'difference_low + 0 < -13500000 AND difference_low + 0 > -20000000
        AND difference_high + 0 > -13500000 AND difference_high + 0 < -9000000' \
        "$walk")" 1
expect "what did not change" "$(column "before.db after.db" "count(*)" \
        "NOT $walk AND (verdict NOT IN ('no-difference', 'too-few-samples') OR difference + 0 <> 0)")" 0
# Both sides have fewer samples than a verdict needs; one sample is a long wait.
analyzed_change before.db few.db "DELETE FROM sample WHERE ip = 0x401020 AND sample_id NOT IN
        (SELECT sample_id FROM sample WHERE ip = 0x401020 LIMIT 10)"
analyzed_change few.db fewer.db "DELETE FROM sample WHERE ip = 0x401020 AND sample_id NOT IN
        (SELECT sample_id FROM sample WHERE ip = 0x401020 LIMIT 1);
        UPDATE sample SET retire_latency_cycles = 1 WHERE ip = 0x401020"
expect "too few samples" "$(column "few.db fewer.db" verdict "$walk")" too-few-samples
# Page faults are all recorded: with as many, few samples are enough.
analyzed_change few.db faults.db "INSERT INTO page_fault SELECT sample_id, 30, 1000, 4096 FROM sample
        WHERE ip = 0x401020"
expect "page faults" "$(column "faults.db faults.db" verdict "$walk")" no-difference
expect "the other way round" "$(column "after.db before.db" verdict "$walk")" worse
expect "the same twice" "$(column "before.db before.db" "count(*) > 2" 1)" 1
for by in line function object type; do
        expect "the same twice by $by" "$(column "--by $by before.db before.db" "count(*)" \
                "difference + 0 <> 0 OR verdict NOT IN ('no-difference', 'too-few-samples')")" 0
done
"$MEMLAG" diff before.db after.db >table || fail "no table"
grep -q '^ *18\.0 M  *4\.50 M  *-13\.5 M .* better .* walk$' table || fail "table: $(cat table)"
grep -q '^cycles  *72\.1 M  *72\.1 M  *1\.000$' table || fail "no cycles: $(cat table)"
! grep -q 'recordings differ' table || fail "alike recordings are not: $(cat table)"
"$MEMLAG" diff --format json before.db after.db >json
expect "JSON" "$(as_json 'it["by"], it["after"]["file"], *[r["before"] for r in it["run"] if r["name"] == "cycles"],
        *[r["verdict"] for r in it["rows"] if r["function"] == "walk"]' <json)" "line after.db 72080000 better"
# The first row is the sum of the others, even if some samples are in no row.
for by in line type; do
        "$MEMLAG" diff --format json --by $by before.db after.db >json
        expect "the sum by $by" "$(as_json '
all(abs(sum(r[name] for r in it["rows"]) - it["all"][name]) <= 1e-6 * abs(it["all"][name])
    for name in ("samples_before", "samples_after", "before", "after", "difference"))' <json)" True
        "$MEMLAG" diff --by $by before.db after.db >table
        grep -q "^.* (all)\$" table || fail "no sum by $by in the table: $(cat table)"
done
# With what no row has they are the cycles that were counted, in the table as well.
"$MEMLAG" diff --format json before.db after.db >json
expect "rows and rest" "$(as_json '
[abs(sum(r[name] for r in it["rows"]) + it["rest"][name] - cycles[name]) < 1
 for cycles in it["run"] if cycles["name"] == "cycles" for name in ("before", "after")]' <json)" "[True, True]"
"$MEMLAG" diff before.db after.db >table
grep -q '^ *[0-9.]* M  *[0-9.]* M .* (no line)$' table || fail "no rest in the table: $(cat table)"
expect "--top" "$("$MEMLAG" diff --format csv --top 1 before.db after.db | sed 1d | wc -l)" 1

# Several recordings of both: figures are their means, here of 18 and 9 million cycles and of
# 4.5 and 17, and what differs as much from run to run is no difference.
for made in before2:90 after2:170; do
        analyzed_change before.db ${made%:*}.db "UPDATE sample SET retire_latency_cycles = ${made#*:}
                WHERE ip = 0x401020;"
done
for order in "before.db --before before2.db after.db --after after2.db" \
        "--after after2.db --before before2.db before.db after.db"; do
        expect "means" "$(column "$order" 'round("before"), round("after"), verdict' "$walk")" \
                "13500000.0,10750000.0,no-difference"
done
"$MEMLAG" diff --before before2.db --after after2.db before.db after.db >table
tr '\n' ' ' <table | grep -q 'of 2 before and 2 after' || fail "means are not told: $(cat table)"

# The same file again, its copy, and one with its samples are no more recordings: they make
# no range narrower.
cp before.db copy.db
columns='before_low, before_high, after_low, after_high, difference_low, difference_high,
        samples_before, samples_after'
column "before.db after.db" "$columns" 1 >once
column "--before before.db --before copy.db --after after.db before.db after.db" "$columns" 1 >again
cmp once again || fail "equal recordings count more than once: $(diff once again | head)"
column "--before before2.db --after after.db before.db after.db" "$columns" 1 >once
column "--before before2.db --before before2.db --after after.db before.db after.db" "$columns" 1 >again
cmp once again || fail "equal recordings beside another count: $(diff once again | head)"
"$MEMLAG" diff --before before.db --before copy.db --after after.db before.db after.db >table
grep -q '^copy.db has the same samples as before.db' table || fail "nothing is said of equal ones: $(cat table)"
! grep -q 'means of' table || fail "one recording has no mean: $(cat table)"

# A program that was renamed is the same one as well where the first recordings also ran
# another program, which another of the other side ran too.
for made in after:1 after2:0; do
        analyzed_change ${made%:*}.db new-${made%:*}.db "
                UPDATE process SET executable = '/bin/new';
                UPDATE module SET path = '/bin/new';
                INSERT INTO process SELECT 2, 101, 1, '/bin/helper', 0, 1 WHERE ${made#*:}"
done
changed before2.db helped.db "INSERT INTO process VALUES (2, 101, 1, '/bin/helper', 0, 1)"
expect "programs of all recordings" "$(column \
        "--before helped.db --after new-after2.db before.db new-after.db" verdict "$walk")" no-difference

# Without the time of retirement, the latency of all loads: as in the report's summary.
sqlite3 before.db "UPDATE sample SET retire_latency_cycles = NULL"
"$MEMLAG" analyze before.db
expect "latency" "$(column "--by function before.db after.db" \
        "DISTINCT figure, unit" 1)" "latency,cycles"
sum=$(answer before.db "SELECT 1000 * sum(latency_cycles) FROM sample
        JOIN data_source USING (data_source_id) WHERE op <> 'NA'")
expect "sum of the latency" "$(column "--by function before.db after.db" \
        'round(sum("before"))' 1)" "$sum.0"

# ---- messages and refusals ----

# setting KEY VALUE: of after.db
setting()
{
        changed before.db other.db "INSERT OR REPLACE INTO run VALUES ('$1', '$2')"
}
for key in command cpu ldlat_cycles period_loads sim_detail sim_prefetch sim_set; do
        setting $key 1000000
        "$MEMLAG" diff before.db other.db | grep -q '^The recordings differ in .* before, 1000000 after' ||
                fail "nothing is said of another $key"
done
# A timer sample stands for a millisecond on a CPU, regardless of other programs.
for side in one two; do
        changed before.db $side.db "DELETE FROM run WHERE key = 'period_loads';
                INSERT OR REPLACE INTO run VALUES ('source', 'clock'), ('numbers', 'measured'),
                        ('frequency_hz', 1000)"
done
sqlite3 two.db "DELETE FROM sample WHERE sample_id % 2 = 0"
expect "time on CPUs" "$("$MEMLAG" diff --by run --format csv one.db two.db 2>err | sed -n 2p | cut -d, -f 1,3,4)" \
        "on_cpus,$(sqlite3 one.db "SELECT printf('%d,', 1000000 * count(*)) FROM sample")$(sqlite3 two.db \
                "SELECT printf('%d', 1000000 * count(*)) FROM sample")"
# What no line has is counted.
for counts in "fewer 30 500" "more 90 2000"; do
        set -- $counts
        changed before.db "$1.db" "INSERT INTO counter (counter_id, name, unit) VALUES
                (901, 'br_misp_retired.all_branches', ''), (902, 'kernel.call_cycles', '');
                INSERT INTO reading (start_ns, end_ns, thread_id, counter_id, value)
                SELECT min(start_ns), min(end_ns), thread_id, 901, $2 FROM reading
                UNION SELECT min(start_ns), min(end_ns), thread_id, 902, $3 FROM reading"
done
expect "counts of no line" "$("$MEMLAG" diff --by run --format csv fewer.db more.db | grep -E '^(mispredicted|call_cycles),')" \
"mispredicted,branches,30,90,3
call_cycles,cycles,500,2000,4"
# Warnings go to standard error and into JSON. Each recording lost 7 records.
setting ldlat_cycles 1000000
sqlite3 other.db "INSERT OR REPLACE INTO run VALUES ('state', 'recording')"
"$MEMLAG" diff --format csv before.db other.db >out 2>err
grep -q '^memlag diff: The recordings differ in least latency .* 1000000 after' err || fail "CSV loses notes: $(cat err)"
grep -q '^memlag diff: other.db is not whole' err || fail "CSV loses what is cut off: $(cat err)"
sqlite3 other.db "UPDATE sample SET retire_latency_cycles = 1"
"$MEMLAG" diff --format json --before before2.db --after other.db before.db after.db >json 2>err
grep -q '^memlag diff: other.db is not whole' err || fail "JSON loses what is cut off: $(cat err)"
expect "notes in JSON" "$(as_json 'it["before"]["cut_off"], it["after"]["cut_off"], it["after"]["failure"],
        it["after"]["lost"], sum("other.db is not whole" in n for n in it["notes"]),
        sum("least latency" in n for n in it["notes"])' <json)" "False True None 14 1 1"
setting numbers imported
refused before.db other.db
refused --before other.db before.db before.db --after before.db
grep -q 'cannot be compared$' err || fail "another provenance: $(cat err)"
setting source clock
refused before.db other.db
grep -q 'other.db is of timer samples' err || fail "timer samples: $(cat err)"
setting period_loads 0
refused before.db other.db
grep -q 'by run compares' err || fail "by frequency: $(cat err)"
"$MEMLAG" diff --by run before.db other.db >out || fail "what was counted is not compared"
setting state recording
"$MEMLAG" diff before.db other.db | grep -q '^other.db is not whole' || fail "it is not said that it was cut off"
refused before.db missing.db
refused before.db /dev/null
for wrong in "before.db" "before.db before.db before.db" "--by thread before.db before.db" \
        "--before before.db before.db before.db" \
        "--by run --top 1 before.db before.db" "--top 0 --by run before.db before.db" \
        "--format xml before.db before.db" "--top -1 before.db before.db"; do
        ends 2 "$MEMLAG" diff $wrong >out
done

# One without findings gets them, where it can be written.
changed before.db raw.db "DELETE FROM threshold"
expect "without findings" "$(column "raw.db before.db" "count(*)" "difference + 0 <> 0")" 0
sqlite3 raw.db "DELETE FROM threshold"
if [ "$(id -u)" != 0 ]; then
        chmod a-w raw.db
        refuses 1 "cannot write raw.db" "$MEMLAG" diff raw.db before.db
fi
# Reading leaves the files as they are.
chmod a-w before.db after.db
sum=$(cat before.db after.db | cksum)
"$MEMLAG" diff before.db after.db >out
expect "the files" "$(cat before.db after.db | cksum)" "$sum"

# ---- programs ----

cat >slow.c <<'EOF'
enum { ITEMS = 1 << 16, FEW = 20000, MANY = 80000 };

static long follow(const long *next, long steps)
{
        long at = 0;
        for (long i = 0; i < steps; i++)
                at = next[at * 8];
        return at;
}

static long again(const long *next, long steps)
{
        long at = 0;
        for (long i = 0; i < steps; i++)
                at = next[at * 8];
        return at;
}

int main(void)
{
        long *next = malloc(sizeof(long) * 8 * ITEMS);
        for (long i = 0; i < ITEMS; i++)
                next[i * 8] = (i + 4099) % ITEMS;
        long end = again(next, FEW); /* first, so that nothing before it differs */
        printf("%ld %ld\n", end, follow(next, MANY));
        return 0;
}
EOF
# A quarter of the steps, three lines further down, in a program of another name and place.
mkdir -p changed
{
        printf '/* One\n * two\n * three. */\n'
        sed 's/follow(next, MANY)/follow(next, FEW)/' slow.c
} >changed/slow.c
compile -o slow slow.c
(cd changed && compile -o quick slow.c)
for program in slow changed/quick; do
        record "$(basename $program)" $SIM --period 199 -- ./$program
done
record slow2 $SIM --period 199 -- ./slow

quarter='"after_low" * 4 <= "before_high" + 0 AND "after_high" * 4 >= "before_low" + 0'
for by in line function; do
        expect "a quarter of the steps by $by" "$(column "--by $by slow.db quick.db" \
                "verdict, $quarter" "function = 'follow'")" "better,1"
        expect "the other function by $by" "$(column "--by $by slow.db quick.db" verdict \
                "function = 'again'")" "no-difference"
done
expect "lines that moved" "$(column "slow.db quick.db" \
        "line_before, line_after" "function = 'follow'")" "7,10"
"$MEMLAG" diff -W slow.db quick.db | grep -q ' slow\.c:7->10 *follow$' || fail "not shown as moved"
expect "the block" "$(column "--by object slow.db quick.db" \
        "alloc_line_before, alloc_line_after, verdict" "alloc_function = 'main'")" "21,24,better"
# Blocks of two types at one place are one row, under a name that is true of both.
changed quick.db typed.db "UPDATE data_object SET name = name || ' (struct a)' WHERE alloc_function = 'main'"
expect "the block with a type" "$(column "--by object slow.db typed.db" \
        "object, verdict" "alloc_function = 'main'")" '"main at slow.c:24",better'
expect "by type" "$(column "--by type slow.db quick.db" verdict "type = 'long int'")" better

# An added comment line changes nothing. Its lines get numbers that other sampled lines had, and one
# function has few samples.
cat >lines.c <<'EOF'
enum { ITEMS = 1 << 16, STEPS = 30000 };

struct node {
        struct node *next;
        long key, more[14];
};

static long find(const struct node *node, long steps)
{
        long sum = 0;
        while (steps--) {
                sum += node->more[10];
                node = node->next;
                sum ^= steps % 128 ? 0 : node->key;
        }
        return sum;
}

static long few(const struct node *nodes)
{
        long sum = 0;
        for (long i = 0; i < ITEMS; i += 64)
                sum += nodes[i].key;
        return sum;
}

int main(void)
{
        struct node *nodes = calloc(ITEMS, sizeof(*nodes));
        for (long i = 0; i < ITEMS; i++)
                nodes[i].next = &nodes[(i + 4099) % ITEMS];
        printf("%ld %ld\n", few(nodes), find(nodes, STEPS));
        return 0;
}
EOF
{
        echo '// One more line.'
        cat lines.c
} >changed/lines.c
for directory in . changed; do
        (cd $directory && compile -o lines lines.c)
done
record lines $SIM --period 97 -- ./lines
record moved $SIM --period 89 -- changed/lines
expect "lines behind a comment" "$(column "lines.db moved.db" \
        "sum(line_before + 1 <> line_after), sum(function = 'find') > 1, sum(function = 'few')" \
        "file LIKE '%lines.c' AND line_before + 0 > 0 AND line_after + 0 > 0")" "0,1,1"
expect "lines that met none" "$(column "lines.db moved.db" "count(*)" \
        "file LIKE '%lines.c' AND samples_before + samples_after >= 20 AND verdict LIKE 'only%'")" 0

# The model does the same twice.
for by in line function object type; do
        expect "the same program twice by $by" "$(column "--by $by slow.db slow2.db" "count(*)" \
                "difference + 0 <> 0 OR verdict NOT IN ('no-difference', 'too-few-samples')")" 0
done

# The time at loads of timer samples.
record slow $SIM --freq 100000 -- ./slow
record quick $SIM --freq 100000 -- changed/quick
expect "time of a quarter" "$(column "slow.db quick.db" "verdict, unit, $quarter" \
        "function = 'follow'")" "better,ns,1"
expect "time of the other" "$(column "slow.db quick.db" verdict "function = 'again'")" no-difference

# Functions without a name are known in the same build alone.
for program in slow changed/quick; do
        strip -o "$program.bare" $program
        record "$(basename $program)" $SIM --period 13 -- ./$program.bare
done
expect "the same stripped" "$(column "--by function slow.db slow.db" "count(*)" \
        "verdict LIKE 'only%'")" 0
expect "another build" "$(column "--by function slow.db quick.db" \
        "min(verdict), max(verdict)" "function LIKE '%.bare+0x%' AND samples_before + samples_after > 30")" \
        "only-after,only-before"
