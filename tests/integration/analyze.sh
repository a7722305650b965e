#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag analyze on a recording whose truth is known (synthetic.sql).
. "$SOURCE_DIR/tests/integration/library.sh"

synthetic_database run.db
"$MEMLAG" analyze run.db >out 2>&1
expect "output" "$(cat out)" ""

holds run.db "0|latency|0|200.0|2.6|4.0
1|latency|0|200.0|2.6|4.0
2|latency|0|200.0|2.6|4.0
3|latency|0|200.0|2.6|4.0
4|bandwidth|1|400.0|90.0|4.0
5|bandwidth|1|400.0|90.0|4.0
6|bandwidth|1|400.0|90.0|4.0
7|bandwidth|1|400.0|90.0|4.0
8|compute|0|0.0|0.0|0.0
9|idle|0|0.0|0.0|0.0" "SELECT interval_id, bound, contended, printf('%.1f', lmrl_cycles),
               printf('%.1f', read_gbs), printf('%.1f', active_cores) FROM interval_view"
holds run.db 2 "SELECT count(*) FROM interval_view WHERE lmrl_cycles IS NULL"

# 228 000 cycles in all.
holds run.db "stream|10|400|400|500.0|500.0|200000.0|400|dram-contention
walk|20|100|100|210.0|210.0|21000.0|0|dram-latency
columns|40|50|0|60.0|60.0|3000.0|0|tlb
||30|0|60.0|60.0|1800.0|0|cache
look_up|30|300|0|4.0|4.0|1200.0|0|none
once|50|5|5|200.0|200.0|1000.0|0|too-few-samples" "
        SELECT function, line, samples, dram_samples, mean_latency_cycles,
               p95_latency_cycles, round(latency_share * 228000), contended_samples, verdict
        FROM line_view"

holds run.db "heap|orders|5|400|400|dram-contention
heap|ring|6|100|0|dram-latency
global|matrix||50|0|tlb
global|table||300|0|none" "
        SELECT object_kind, object, alloc_line, samples, contended_samples, verdict
        FROM object_view"

holds run.db "10|orders|||400
20|ring|||100
40|matrix|||50
30|table|||300" "SELECT line, object, type, field, samples FROM line_object_view WHERE object <> ''"

holds run.db "stream|4|100
stream|5|100
stream|6|100
stream|7|100" "SELECT function, interval_id, count(*) FROM sample_view WHERE contended
        GROUP BY 1, 2"
holds run.db "0x401010|0x7fff00000000|heap" "
        SELECT ip, addr, object_kind FROM sample_view WHERE sample_id = 1"
changed run.db high.db "UPDATE sample SET addr = -1 WHERE sample_id = 1"
holds high.db 0xffffffffffffffff "SELECT addr FROM sample_view WHERE sample_id = 1"

holds run.db "duration_ns|10000000
lost|7
memory_samples|885
samples|885" "SELECT key, value FROM run_info
        WHERE key IN ('samples', 'memory_samples', 'lost', 'duration_ns') ORDER BY key"
holds run.db "too few samples for a verdict|1" \
        "SELECT kind, value FROM ledger WHERE stage = 'analysis'"

# The shares and every interval of confidence hold together.
holds run.db "1.0|6|6" "SELECT round(sum(latency_share), 9),
               sum(latency_share BETWEEN latency_share_low AND latency_share_high), count(*)
        FROM line_finding"

# One load that waits for thousands of others is no line's finding: it counts as a twentieth of
# what all samples held up then, 45 000 / 19 cycles, wherever that is summed up. Five as long
# would be.
analyzed_change run.db long.db "UPDATE sample SET retire_latency_cycles =
                CASE ip WHEN 0x401010 THEN 100 WHEN 0x401020 THEN 50 ELSE 0 END;
        UPDATE sample SET retire_latency_cycles = 674066 WHERE sample_id =
                (SELECT min(sample_id) FROM sample WHERE ip = 0x401040)"
holds long.db "stream|40000.0
walk|5000.0
columns|2368.0" "
        SELECT function, round(stalled_ratio / (SELECT stalled_ratio FROM line_view WHERE line = 10) * 40000)
        FROM line_view WHERE stalled_ratio > 0"
holds long.db "1.0|1.0" "
        SELECT round(a / c, 9), round(b / c, 9) FROM (SELECT sum(self_stalled_ratio) AS a FROM caller_view),
                (SELECT sum(stalled_ratio) AS b FROM object_view),
                (SELECT sum(stalled_ratio) AS c FROM line_view)"
expect "threads with a long sample" \
        "$("$MEMLAG" report --by thread --format csv long.db | tail -n +2 | cut -d, -f9 |
                awk '{ sum += $1 } END { printf "%.9f", sum }')" \
        "$(answer long.db "SELECT printf('%.9f', sum(stalled_ratio)) FROM line_view")"
holds long.db "1|longer than a twentieth of all that was held up, which they count as
stall_limit_cycles|2368.0" "SELECT value, kind FROM ledger WHERE stage = 'analysis'
        AND kind LIKE 'longer%'; SELECT name, value FROM threshold WHERE name LIKE 'stall%'"
sqlite3 long.db "UPDATE sample SET retire_latency_cycles = 674066 WHERE sample_id IN
        (SELECT sample_id FROM sample WHERE ip = 0x401040 LIMIT 5)"
"$MEMLAG" analyze long.db
holds long.db columns "SELECT function FROM line_view LIMIT 1"
holds long.db 0 "SELECT count(*) FROM threshold WHERE name LIKE 'stall%'"

# Again, and again from nothing: the same.
sqlite3 -readonly run.db .dump >first
"$MEMLAG" analyze run.db
sqlite3 -readonly run.db .dump >second
cmp first second || fail "a second analysis differs from the first"

# A database of another memlag with the same version of the schema: findings and views can be
# made anew, other tables cannot.
analyzed_change run.db other.db "DROP TABLE line_asker_finding; ALTER TABLE line_finding ADD COLUMN other TEXT"
sqlite3 -readonly other.db .dump | sort >second
sort first | cmp - second || fail "findings of another shape were not made anew"
synthetic_database other.db "ALTER TABLE ledger DROP COLUMN unit"
"$MEMLAG" analyze other.db 2>err && fail "analysed a database without a column"
expect "a missing column" "$(sed 's/.*other.db: //' err)" \
"table ledger has no column named unit; another memlag made it, or it was changed: record again"
changed run.db other.db "DROP TABLE sample"
"$MEMLAG" report -v other.db >/dev/null 2>err && fail "reported without samples"
expect "a missing table" "$(sed 's/.*other.db: //' err)" \
"no such table: sample; another memlag made it, or it was changed: record again"
changed run.db other.db "DROP VIEW phase_limit_view"
"$MEMLAG" report -v --by phase other.db >/dev/null 2>err && fail "reported without a view"
expect "a missing view" "$(sed 's/.*other.db: //' err)" \
"no such table: phase_limit_view; make its views anew with 'memlag analyze'"

# Without the machine's facts: from the run's own quiet intervals, and it says so.
analyzed own.db "DELETE FROM machine WHERE key LIKE 'dram%' OR key LIKE 'l%'"
holds own.db 4 "SELECT count(*) FROM interval WHERE contended IS NULL AND lmrl_cycles > 0"
# Two more quiet intervals make six.
sqlite3 own.db "
        INSERT INTO reading SELECT start_ns + (10 + n.value) * 1000000,
                end_ns + (10 + n.value) * 1000000, thread_id, counter_id, reading.value
        FROM reading, generate_series(0, 1) AS n WHERE start_ns = 0"
"$MEMLAG" analyze own.db
holds own.db "4,5,6,7" "SELECT group_concat(interval_id) FROM interval WHERE contended"
holds own.db "250.0|the run's quiet intervals" "
        SELECT value, origin FROM threshold WHERE name = 'lmrl_cycles'"
"$MEMLAG" report -v own.db | tr '\n' ' ' | grep -q "quiet intervals of this run" ||
        fail "the report does not say where the limits come from"

# Each limit names the origin of the fact that it follows from.
analyzed origins.db "UPDATE machine SET origin = 'command line'
        WHERE key = 'dram_bandwidth_gbs';
        INSERT INTO machine VALUES ('saturating_cores', 2, 'cores', 'calibration'),
                ('dram_knee_gbs', 60, 'GB/s', 'calibration')"
holds origins.db "contended_bandwidth_gbs|command line
high_latency_cycles|preset made-up
knee_gbs|calibration
saturating_cores|calibration" "SELECT name, origin FROM threshold
        WHERE name IN ('contended_bandwidth_gbs', 'high_latency_cycles', 'knee_gbs',
                       'saturating_cores') ORDER BY name"
sqlite3 origins.db "UPDATE machine SET value = 40 WHERE key = 'dram_knee_gbs'"
"$MEMLAG" analyze origins.db
holds origins.db "40.0|calibration" "
        SELECT value, origin FROM threshold WHERE name = 'contended_bandwidth_gbs'"

# A threshold of LMRL that the calibration measured counts before the rule: intervals 4 to 7
# have 400 cycles, and 1.9 times 200 are less, 1.9 times 215 are more.
measured_database() # measured_database FILE IDLE THRESHOLD
{
        synthetic_database "$1"
        sqlite3 "$1" "UPDATE run SET value = 'measured' WHERE key = 'numbers';
                INSERT INTO machine VALUES ('idle_lmrl_cycles', $2, 'cycles', 'calibration'),
                        ('lmrl_threshold_cycles', $3, 'cycles', 'calibration')"
        "$MEMLAG" analyze "$1"
        "$MEMLAG" report -v "$1" | tr '\n' ' ' >report
}
contended()
{
        answer "$1" "SELECT count(*) FROM interval_view WHERE contended"
}
limit()
{
        answer "$1" "SELECT name, round(value, 2), origin FROM threshold
                WHERE name IN ('lmrl_factor', 'lmrl_cycles') ORDER BY name DESC"
}
measured_database measured.db 200 380
expect "above the measured threshold" "$(contended measured.db)" 4
expect "its origin" "$(limit measured.db)" \
"lmrl_factor|1.9|calibration
lmrl_cycles|380.0|calibration"
says "The limit of LMRL, 1.90 times idle, is measured (calibration)." report
measured_database measured.db 215 408.5
expect "below the measured threshold" "$(contended measured.db)" 0
measured_database measured.db 200 201
expect "a threshold in the noise" "$(limit measured.db)" \
"lmrl_factor|1.25|rule, see method.md, as the calibration's threshold cannot be right
lmrl_cycles|250.0|preset made-up"
says "The limit of LMRL, 1.25 times idle, is derived, not measured." report

# Without counters only the latencies of samples decide. In stream they are longer than on idle
# DRAM, as when bandwidth is short; in walk they are not.
analyzed samples.db "DELETE FROM reading; DELETE FROM counter"
holds samples.db "stream|dram
walk|dram-latency" "SELECT function, verdict FROM line_view LIMIT 2"
holds samples.db 505 "
        SELECT value FROM ledger WHERE kind LIKE 'that may have waited for DRAM, and nothing counted%'"

# Slow lines on their way, 382 of 100 cycles in interval FIRST to LAST, in a function of their
# own, where ASKING loads asked for lines and had them from the cache.
lines_on_their_way() # lines_on_their_way FIRST LAST ASKING [SQL]
{
        analyzed lines.db "
                INSERT INTO data_source VALUES (5, 'load', 'LFB', 'hit', 'none', 0, NULL);
                INSERT INTO name VALUES (11, 'build'), (12, '/src/build.c');
                INSERT INTO code_location VALUES (6, 1, 0x1060, 11, 12, 60);
                INSERT INTO sample (time_ns, thread_id, cpu, ip, addr, latency_cycles,
                                    data_source_id)
                SELECT $1 * 1000000 + ($2 - $1 + 1) * 1000000 * n.value / 400, 1, 0, 0x401060,
                       64 * n.value, 100, iif(n.value < $3, 3, 5)
                FROM generate_series(0, 381 + $3) AS n;
                INSERT INTO attribution SELECT sample_id, 6, NULL, 0, NULL, NULL, NULL FROM sample
                WHERE ip = 0x401060; ${4-}"
        answer lines.db "SELECT verdict FROM line_view WHERE function = 'build'"
}
expect "18 of 18 from the cache, in intervals that read DRAM" "$(lines_on_their_way 0 3 18)" cache
expect "stores to DRAM tell nothing of loads" "$(lines_on_their_way 0 3 18 "
        INSERT INTO data_source VALUES (6, 'store', 'DRAM', 'hit', 'none', 0, NULL);
        INSERT INTO sample (sample_id, time_ns, thread_id, cpu, ip, latency_cycles, data_source_id)
        SELECT 50000 + value, value * 1000, 1, 0, 0x401060, 300, 6 FROM generate_series(1, 40);
        INSERT INTO attribution SELECT sample_id, 6, NULL, 0, NULL, NULL, NULL FROM sample
        WHERE sample_id > 50000")" cache
expect "nobody asked, in intervals that read DRAM" "$(lines_on_their_way 0 3 0)" dram-latency
expect "nobody asked, in one that does not" "$(lines_on_their_way 8 8 0)" cache
uncounted="DELETE FROM reading; DELETE FROM counter"
expect "nothing was counted: of DRAM, as in the run" "$(lines_on_their_way 0 3 0 "$uncounted")" dram
expect "lines fought for elsewhere tell nothing" "$(lines_on_their_way 0 3 0 "$uncounted;
        UPDATE data_source SET snoop = 'hitm' WHERE level = 'DRAM'")" unknown
expect "nothing tells" "$(lines_on_their_way 0 3 4 "$uncounted;
        DELETE FROM sample WHERE data_source_id = 4")" unknown

# Prefetches request the lines, so loads hit fill buffers: 27 GB/s, all in a fifth of interval 4.
# Fast hits do not wait for DRAM.
bursts() # bursts LATENCY
{
        analyzed bursts.db "
                INSERT INTO data_source VALUES (5, 'load', 'LFB', 'hit', 'none', 0, NULL);
                UPDATE reading SET value = value * 3 / 10
                WHERE counter_id = 7 AND start_ns = 4000000;
                UPDATE sample SET data_source_id = 5, latency_cycles = $1,
                       time_ns = 4000000 + n / 25 * 250000 + n % 25 * 2000
                FROM (SELECT sample_id AS id, row_number() OVER (ORDER BY time_ns) - 1 AS n
                      FROM sample WHERE ip = 0x401010 AND time_ns / 1000000 = 4)
                WHERE sample_id = id"
        answer bursts.db "SELECT coalesce(contended, 'unknown') FROM interval_view
                          WHERE interval_id = 4"
}
expect "slow hits of fill buffers show a short phase" "$(bursts 500)" 1
expect "fast hits show none" "$(bursts 60)" unknown

# What memlag loads into the program is no object of the user's; the sums are as before.
analyzed own_objects.db "INSERT INTO module VALUES (2, '/x/vgpreload_memlag-amd64-linux.so', NULL);
        UPDATE data_object SET module_id = 2 WHERE name = 'table'"
holds own_objects.db "orders|1
ring|1
matrix|1" "SELECT o.object, o.latency_share = r.latency_share
        FROM object_view AS o JOIN (SELECT 'orders' AS object, 200000 / 228000.0 AS latency_share
              UNION ALL SELECT 'ring', 21000 / 228000.0
              UNION ALL SELECT 'matrix', 3000 / 228000.0) AS r USING (object)"
holds own_objects.db 3 "SELECT count(*) FROM object_view"
holds own_objects.db 300 "SELECT value FROM ledger WHERE kind = 'in objects of memlag itself'"

# Impossible readings and numbers are counted, not believed.
analyzed hostile.db "
        INSERT INTO reading VALUES (5, 5, 1, 1, 1), (6, 9223372036854775807, 1, 1, 1),
                (-9, 4, 1, 1, 1);
        INSERT INTO sample (sample_id, time_ns, thread_id, cpu, ip, addr, latency_cycles, data_source_id, stack_id) VALUES (9001, -5, 77, 0, 0, 0, -3, 99, NULL),
                (9002, 9223372036854775807, 77, 0, 0, NULL, 9223372036854775807, 1, NULL);
        INSERT INTO attribution VALUES (9001, 4711, 4712, -1, 4713, NULL, NULL)"
holds hostile.db 3 "SELECT value FROM ledger WHERE kind = 'impossible reading times'"
holds hostile.db 10 "SELECT count(*) FROM interval"

# M17's classes. The chase through L3 takes 53 cycles a load. Interval 0: alone; 1: with 24
# independent multiplications beside each load, 29 of 53 cycles without execution; 2: buffers
# full in 60 % of the cycles; 3: stalls without memory; 8: neither.
analyzed stalls.db "
        INSERT INTO counter (counter_id, name, unit) VALUES (20, 'cycle_activity.cycles_no_execute', 'cycles'),
                (21, 'cycle_activity.stalls_l1d_pending', 'cycles'),
                (22, 'cycle_activity.stalls_l2_pending', 'cycles'),
                (23, 'cycle_activity.stalls_l3_miss', 'cycles');
        WITH gain (id, counter_id, part) AS (VALUES
                (0, 20, 1), (0, 21, 1), (0, 22, 1), (0, 23, 0.9),
                (1, 20, 29 / 53.0), (1, 21, 29 / 53.0), (1, 22, 0.0),
                (2, 20, 0.9), (2, 21, 0.8), (2, 22, 0.8), (2, 6, 0.6), (3, 20, 0.5))
        INSERT INTO reading
        SELECT id * 1000000, (id + 1) * 1000000, t.value, counter_id,
               CAST(round(part * 2000000) AS INTEGER)
        FROM gain, generate_series(1, 4) AS t"
holds stalls.db "0|0.0|1.0|0.0|0.0|0.0|1.0|0.1|0.9
1|0.453|0.547|0.0|0.0|0.547|0.0|0.0|0.0
2|0.1|0.2|0.6|0.1|0.0|0.8|0.8|0.0
3|0.5|0.0|0.0|0.5|0.0|0.0|0.0|0.0
8|1.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0" "
        SELECT interval_id, round(productive_ratio, 3), round(latency_ratio, 3),
               round(bandwidth_ratio, 3), round(other_stall_ratio, 3), round(l2_ratio, 3),
               round(beyond_l2_ratio, 3), round(l3_ratio, 3), round(dram_ratio, 3)
        FROM stall_view WHERE interval_id IN (0, 1, 2, 3, 8)"
holds run.db 0 "SELECT count(*) FROM stall_view WHERE productive_ratio IS NOT NULL"

# Utilisation: of the cores' peak where it was measured, of the machine's elsewhere.
holds run.db "100.0|0.026|
100.0|0.9|" "SELECT peak_gbs, round(use_ratio, 3), saturating_cores FROM utilisation_view
        WHERE interval_id IN (0, 4)"
analyzed peaks.db "
        INSERT INTO machine VALUES ('saturating_cores', 6, 'cores', 'c'),
                ('dram_bandwidth_gbs_1', 40, 'GB/s', 'c'), ('dram_bandwidth_gbs_4', 95, 'GB/s', 'c'),
                ('dram_bandwidth_gbs_8', 100, 'GB/s', 'c')"
holds peaks.db "4.0|6.0|95.0|0.947
0.0|6.0|40.0|0.0" "SELECT active_cores, saturating_cores, peak_gbs, round(use_ratio, 3)
        FROM utilisation_view WHERE interval_id IN (4, 8)"
# Of writes too: a quarter of the lines of interval 5 are now written.
sqlite3 -bail peaks.db "
        INSERT INTO machine VALUES ('dram_write_bandwidth_gbs', 50, 'GB/s', 'c'),
                ('dram_write_bandwidth_gbs_1', 10, 'GB/s', 'c'),
                ('dram_write_bandwidth_gbs_2', 25, 'GB/s', 'c');
        INSERT INTO reading SELECT start_ns, end_ns, thread_id, 8, value / 4 FROM reading
        WHERE counter_id = 7 AND start_ns = 5000000;
        UPDATE reading SET value = value * 0.75 WHERE counter_id = 7 AND start_ns = 5000000"
"$MEMLAG" analyze peaks.db
holds peaks.db "25.0|0.711|0.9|0.947
10.0|0.0|0.0|0.0" "SELECT peak_write_gbs, round(read_use_ratio, 3), round(write_use_ratio, 3),
               round(use_ratio, 3)
        FROM utilisation_view WHERE interval_id IN (5, 8)"

# Phases for programs.
expect "phases" "$("$MEMLAG" report --by phase --format json stalls.db | as_json '*[" ".join(
        str(round(p[key], 3) if "ratio" in key else p[key]) for key in ("start_ns", "end_ns", "bound",
        "duration_ns", "active_cores", "use_ratio", "latency_ratio")) for p in it["rows"]], sep="\n"')" \
"0 2000000 latency 2000000 4 0.026 0.774
2000000 3000000 in-core 1000000 4 0.026 0.2
3000000 4000000 compute 1000000 4 0.026 0
4000000 8000000 bandwidth 4000000 4 0.9 0
8000000 9000000 compute 1000000 0 0 0
9000000 10000000 idle 1000000 0 0 0"
"$MEMLAG" report -v --by phase stalls.db | grep -q "in-core" || fail "no table of phases"

# Impossible times: a sample and readings at the end of time, readings from then to now and over
# hours. No intervals fill the time between, and the omission is counted.
synthetic_database jumps.db "
        UPDATE sample SET time_ns = 9223372036854775807 WHERE sample_id = 1;
        INSERT INTO reading VALUES (9223372036854770000, 9223372036854775807, 1, 1, 100),
                (10000000, 9223372036854775807, 1, 2, 100), (20000000, 36000000000000, 1, 1, 77);
        INSERT INTO sample (sample_id, time_ns, thread_id, ip) VALUES (-1, -9223372036854775808, 1, 4096)"
(
        ulimit -v 1048576
        timeout 300 "$MEMLAG" analyze jumps.db
        for by in line thread interval phase; do
                timeout 300 "$MEMLAG" report -v --by $by --top 0 jumps.db >jumps.out
        done
)
holds jumps.db 11 "SELECT count(*) FROM interval"
holds jumps.db 2 "SELECT value FROM ledger WHERE kind = 'impossible reading times'"

# Bad usage and bad files.
ends 2 "$MEMLAG" analyze one.db two.db
refuses 1 "absent.db" "$MEMLAG" analyze absent.db

# ---- a file system that is read-only -------------------------------------------------
cp run.db elsewhere.db
mkdir fixed
mv elsewhere.db fixed
if unshare -rm sh -c 'mount --bind fixed fixed && mount -o remount,bind,ro fixed' 2>err; then
        unshare -rm sh -c 'mount --bind fixed fixed && mount -o remount,bind,ro fixed &&
                "$MEMLAG" analyze fixed/elsewhere.db' 2>err && fail "analysed where nothing can be written"
        says 'cannot write fixed/elsewhere.db: Read-only file system; copy it'
else
        echo "SKIPPED: a read-only file system: $(cat err)"
fi
