#!/bin/sh
# SPDX-License-Identifier: MIT
# For how long loads held up the program, of a recording whose truth is known
# (synthetic.sql, 1000 loads a sample, 72 080 000 cycles), and of two programs.
. "$SOURCE_DIR/tests/integration/library.sh"

synthetic_database before.db
cp before.db memlag.db
# The loads of a stream overlap: 2.8 million cycles. The loads of a walk wait: 18 million.
sqlite3 memlag.db "
        UPDATE sample SET retire_latency_cycles = 0;
        UPDATE sample SET retire_latency_cycles = 7 WHERE ip = 0x401010;
        UPDATE sample SET retire_latency_cycles = 180 WHERE ip = 0x401020;"
"$MEMLAG" analyze before.db
"$MEMLAG" analyze

shares="SELECT group_concat(function || ' ' || round(100 * stalled_ratio, 2), ', ')
        FROM (SELECT * FROM line_view LIMIT 2)"
holds memlag.db "walk 24.97, stream 3.88" "$shares"
holds memlag.db "ring 24.97, orders 3.88" "
        SELECT group_concat(object || ' ' || round(100 * stalled_ratio, 2), ', ')
        FROM (SELECT * FROM object_view LIMIT 2)"
holds memlag.db "ring 24.97, orders 3.88" "
        SELECT group_concat(object || ' ' || round(100 * stalled_ratio, 2), ', ')
        FROM (SELECT * FROM line_object_view LIMIT 2)"
holds memlag.db 28.86 "SELECT round(100 * sum(stalled_ratio), 2) FROM function_finding"
holds memlag.db "walk 24.97 24.97" "SELECT function || ' ' || round(100 * stalled_ratio, 2)
        || ' ' || round(100 * self_stalled_ratio, 2) FROM caller_view LIMIT 1"

# first OPTION...: the first row of the report
first()
{
        "$MEMLAG" report -v "$@" | sed -n '/^ *\(stalled  \)*latency /{n;p;}'
}
first | grep -q '^ *25\.0%  *9\.2% .* walk$' || fail "the walk is not first: $(first)"
first --sort latency | grep -q '^ *3\.9%  *87\.7% .* stream$' || fail "by latency it is: $(first --sort latency)"
first --by function --sort latency | grep -q ' stream$' || fail "functions are not by latency"
first --by object | grep -q ' ring ' || fail "the ring is not first: $(first --by object)"
first --by object --sort latency | grep -q ' orders ' || fail "objects are not by latency"
for format in csv json; do
        "$MEMLAG" report --format $format --top 1 | grep -q walk || fail "the walk is not first in $format"
        "$MEMLAG" report --format $format --top 1 --sort latency | grep -q stream || fail "by latency in $format"
done
"$MEMLAG" report -v | tr '\n' ' ' | grep -q 'was stalled on memory accesses for 28\.9% of the cycles' ||
        fail "the sum is not told"
# The sum by verdict uses the same weight as the order of the rows, and so does the first
# explanation.
"$MEMLAG" report -v >weighed.txt
tr '\n' ' ' <weighed.txt | grep -q 'Stalled time by verdict: 87% dram-latency, 13% dram-contention\.' ||
        fail "verdicts have another weight than rows: $(cat weighed.txt)"
expect "what is explained" "$(sed -n 's/^\(dram-[a-z]*\): .*/\1/p' weighed.txt | tr '\n' ' ')" "dram-latency dram-contention "
"$MEMLAG" report -v before.db | tr '\n' ' ' | grep -q 'Latency by verdict: 88% dram-contention, 9% dram-latency' ||
        fail "without stalled time verdicts are not weighed by latency"
# What held up less than a tenth of that is no advice, however long it waited.
analyzed_change memlag.db overlap.db "UPDATE sample SET retire_latency_cycles = 2 WHERE ip = 0x401010"
expect "what is worth a word" "$("$MEMLAG" report -v overlap.db | sed -n 's/^\(dram-[a-z]*\): .*/\1/p')" dram-latency

# A hundred equal samples are known well: no row but the first may have as much. Five among
# many are no lead to be sure of, and one is none.
! "$MEMLAG" report -v | grep -q 'estimate of samples' || fail "the walk's lead is doubted"
analyzed_change memlag.db chance.db "
        UPDATE sample SET retire_latency_cycles = 0;
        UPDATE sample SET retire_latency_cycles = 7 WHERE ip = 0x401010;
        UPDATE sample SET retire_latency_cycles = 7000 WHERE sample_id =
                (SELECT min(sample_id) FROM sample WHERE ip = 0x401020)"
first chance.db | grep -q ' stream$' || fail "one sample leads: $(first chance.db)"
long='very long sample'
"$MEMLAG" report -v chance.db | tr '\n' ' ' | grep -q "  *1 $long" ||
        fail "that rows add up to less is not told: $("$MEMLAG" report -v chance.db)"
! "$MEMLAG" report -v memlag.db | tr '\n' ' ' | grep -q "$long" || fail "told where no sample is cut"
sqlite3 chance.db "UPDATE sample SET retire_latency_cycles = 1000 WHERE sample_id IN
                (SELECT sample_id FROM sample WHERE ip = 0x401020 ORDER BY sample_id LIMIT 5)"
"$MEMLAG" analyze chance.db
first chance.db | grep -q ' walk$' || fail "five samples do not lead: $(first chance.db)"
"$MEMLAG" report -v chance.db | tr '\n' ' ' >chance.prose
# Five events of 1000 kilocycles are 6.937 % of the cycles. The interval of 5.03 events is 0.4281 to
# 2.3360 of their number.
says "first row's lies between 3\.0 and 16\.2% with 95 % confidence, and 1 other row may have as much" chance.prose
# If samples stand for more cycles than there were (72.0 and 2.8 million of 72.08), they share the
# cycles in their proportion.
analyzed_change memlag.db beyond.db "UPDATE sample SET retire_latency_cycles = 720 WHERE ip = 0x401020"
holds beyond.db 1 "SELECT abs(sum(stalled_ratio) - 1) < 1e-9 AND max(stalled_ratio) < 1 AND
        abs(max(stalled_ratio) / sum(stalled_ratio) - 72.0 / 74.8) < 0.001
        FROM line_view"
holds beyond.db 4 "SELECT value FROM ledger WHERE kind GLOB 'stalled beyond*'"
# One long sample that stands for more cycles than there were takes nothing from other rows.
changed memlag.db beyond.db "UPDATE sample SET retire_latency_cycles = 100000 WHERE sample_id =
                (SELECT min(sample_id) FROM sample WHERE ip = 0x401040)"
"$MEMLAG" analyze beyond.db
holds beyond.db 24.97 "SELECT round(100 * stalled_ratio, 2) FROM line_view WHERE function = 'walk'"
holds beyond.db 1 "SELECT sum(stalled_ratio) <= 1 FROM line_view"
"$MEMLAG" report beyond.db >beyond.txt
says "stalled the program for 100\.0 % of its" beyond.txt

# Loads whose address is lost are in no row of objects and types, which these reports tell.
changed memlag.db lost.db "UPDATE sample SET addr = NULL WHERE ip = 0x401010;
        UPDATE attribution SET object_id = NULL, field_id = NULL
        WHERE sample_id IN (SELECT sample_id FROM sample WHERE addr IS NULL)"
lost=$(sqlite3 lost.db "SELECT count(*) FROM sample WHERE addr IS NULL AND ip = 0x401010")
"$MEMLAG" analyze lost.db
for kind in object type; do
        "$MEMLAG" report -v --by $kind lost.db |
                grep -q "^  $lost samples of loads with no data address: no object, no type (record)$" ||
                fail "loads without an address are in no list by $kind: $("$MEMLAG" report -v --by $kind lost.db | tail -4)"
done
! "$MEMLAG" report -v lost.db | grep -q 'no data address' || fail "lines are said to need an address"

# By thread, each sample belongs to one; the queries have the same order.
"$MEMLAG" report --by thread --format csv >threads.csv
expect "of the threads" "$(as_csv 'len(it), "%.2f" % sum(100 * float(row["stalled_ratio"]) for row in it)' <threads.csv)" "4 28.86"
cut -d, -f9 threads.csv | sed 1d | sort -grsc || fail "the order of the threads"
"$MEMLAG" report -v --by thread | grep -q '^stalled  latency  samples ' || fail "no stalled time of threads"
expect "hot-lines" "$("$MEMLAG" query --name hot-lines --format csv | sed -n 2p | cut -d, -f1,9)" "25.0,walk"
expect "objects" "$("$MEMLAG" query --name objects --format csv | sed -n 2p | cut -d, -f1,9)" "25.0,ring"

# Where cycles without execution beside a miss are more than sampled loads held up, loads of
# L2 that were not sampled have their part: a ring that L2 holds.
program ring <<'END'
enum { NODES = 4096, STRIDE = 1633 };
static struct node { struct node *next; char rest[56]; } nodes[NODES];
int main(void)
{
        for (unsigned i = 0; i < NODES; i++)
                nodes[i].next = &nodes[(i + STRIDE) % NODES];
        struct node *volatile node = nodes;
        for (long i = 0; i < 200 * NODES; i++)
                node = node->next;
        return node == NULL;
}
END
record ring $SIM --ldlat 30 -- ./ring
"$MEMLAG" report -v ring.db | tr '\n' ' ' >ring.prose
says 'Loads of less than 30 cycles, .* not sampled' ring.prose
record all $SIM --ldlat 1 -- ./ring
! "$MEMLAG" report -v all.db | grep -q "not sampled" || fail "all were sampled"

# Unless told otherwise the simulated PMU samples all that misses L1: the ring is the first
# row, whose 200 x 4096 steps take L2's 14 cycles each.
record usual $SIM --sim-cpu skylake-sp -- ./ring
! "$MEMLAG" report -v usual.db | grep -q "not sampled" || fail "all that missed L1 were sampled"
holds usual.db "main cache 1" "SELECT function || ' ' || verdict || ' ' || (abs(stalled_ratio * (
                SELECT sum(value) FROM counter JOIN reading USING (counter_id)
                WHERE name = 'cpu_clk_unhalted.thread') / (200 * 4096 * 14) - 1) < 0.05)
        FROM line_view ORDER BY stalled_ratio DESC LIMIT 1"
holds usual.db 6 "SELECT value FROM run WHERE key = 'ldlat_cycles'"
record usual $SIM --sim-cpu skylake-sp --sim-set l1d.latency_cycles=7 -- ./ring
holds usual.db 8 "SELECT value FROM run WHERE key = 'ldlat_cycles'"

# Where nothing tells, there is no such column, and nobody can ask for its order.
! "$MEMLAG" report -v before.db | grep -q stalled || fail "what is not known is shown"
first before.db | grep -q ' stream$' || fail "without it rows are not by latency"
! "$MEMLAG" report -v --sort stalled before.db >out 2>&1 || fail "the order by what is not known"
grep -q -e '--sort=latency' out || fail "no remedy: $(cat out)"
"$MEMLAG" report -v --sort latency before.db >out || fail "the order that there is was refused"
! "$MEMLAG" report -v --sort time memlag.db >out 2>&1 || fail "an unknown order"
! "$MEMLAG" report -v --sort latency --by thread memlag.db >out 2>&1 || fail "an order of threads"

# With caches only no time is the program's.
"$MEMLAG" record $SIM --sim-detail cache -o caches.db true >out 2>&1 || fail "$(cat out)"
holds caches.db 0 "SELECT count(retire_latency_cycles) FROM sample"
