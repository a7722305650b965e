#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag report on a recording whose truth is known (synthetic.sql).
. "$SOURCE_DIR/tests/integration/library.sh"

synthetic_database memlag.db
"$MEMLAG" analyze

# ---- for people ---------------------------------------------------------------
"$MEMLAG" report -v >out
expect "the first line" "$(head -1 out)" \
        "memlag: modelled by the simulated PMU (made-up), without prefetchers, not measured: ./made-up --quick"
# The worst line first: its share is 200000 of 228000.
grep -A1 '^ *latency ' out | tail -1 | grep -q '87.7%.* dram-contention .*stream.c:10 .*stream' ||
        fail "stream.c:10 is not the first line"
expect "colours in a pipe" "$(grep -c "$(printf '\033')" out || true)" 0

# note SQL PRESENT [ABSENT [OPTION...]]: after SQL's change the report has the words PRESENT, and
# not the words ABSENT. (Patterns of grep; a line may end at each blank.)
note()
{
        changed memlag.db note.db "$1"
        present=$2 absent=${3-}
        shift "$(($# < 3 ? $# : 3))"
        "$MEMLAG" report -v "$@" note.db | tr '\n' ' ' >prose
        says "$present" prose
        [ -z "$absent" ] || ! grep -q -e "$absent" prose || fail "it has '$absent': $(cat prose)"
}
by_line=latency # in every table of lines

# The report says if the model is not the recording machine, and if the caches make the difference.
other="INSERT INTO run VALUES ('sim_preset', 'made-up'), ('host_cpu', 'Real 1'), ('host_calibrated', 0);
        INSERT INTO machine VALUES ('l3_bytes', 41943040, 'bytes', 'preset made-up'),
                ('host_l3_bytes', 4194304, 'bytes', 'calibration');
        UPDATE data_object SET size_bytes = NULL;
        UPDATE data_object SET size_bytes = 20971520 WHERE object_id =
          (SELECT object_id FROM object_finding ORDER BY latency_share DESC LIMIT 1)"
note "" $by_line 'Simulated CPU'
note "$other" 'Simulated CPU: made-up\. .* is Real 1, .* 20\.0 MiB, .* (40\.0 MiB), but not .* (4\.0 MiB)\. '
"$MEMLAG" report --format json note.db | as_json 'it["model_note"]' >out
says 'Simulated CPU: made-up' out
note "$other; UPDATE machine SET value = 33554432 WHERE key = 'host_l3_bytes';
        INSERT INTO machine VALUES ('host_l3_cpus', 2, 'CPUs', 'the system')" 'Simulated CPU' 'costliest objects'

# A model that was changed is not the preset's.
expect "the first line of a changed model" "$(
        note "INSERT INTO run VALUES ('sim_set', 'dram.latency_ns=200 dtlb.ways=2'), ('sim_detail', 'full')" $by_line
        "$MEMLAG" report -v note.db | head -1)" \
        "memlag: modelled by the simulated PMU (made-up with dram.latency_ns=200 dtlb.ways=2), without prefetchers, not measured: ./made-up --quick"
# If only caches are simulated, no load waits for a value: there is no statement about overlap.
analyzed_change memlag.db caches.db "INSERT INTO run VALUES ('sim_detail', 'cache')"
"$MEMLAG" report -v caches.db | tr '\n' ' ' >caches
for words in "caches only: no load waits for a value" "Contention: not known with caches only" "97% dram," \
        "verdict not given: dram-contention and in-core"; do
        says "$words" caches
done
! grep -q -e 'outstanding at a time' -e 'the core did nothing' -e 'dram-latency' caches ||
        fail "of caches only the report tells what overlaps: $(cat caches)"

# --help names all that rows may stand for.
"$MEMLAG" report --help | tr -s ' \n' '  ' >help
for by in line function object caller allocation type thread interval phase; do
        "$MEMLAG" report -v --by $by memlag.db >by || fail "--by $by"
        expect "--by $by: a range explained, for a column of it" \
                "$(grep -c '95 % confidence range' by || true)" "$(grep -c '  95% range  ' by || true)"
        says "stands for:.* $by\>" help
done

# Explains the verdicts with a tenth of the latency or more, and the full resources.
line_10="UPDATE line_finding SET verdict = 'in-core' WHERE line = 10"
note "" 'dram-contention: DRAM bandwidth was short' ' dram-latency: '
note "$line_10; INSERT INTO counter (counter_id, name, unit)
                VALUES (98, 'offcore_requests_buffer.sq_full', 'cycles'), (99, 'resource_stalls.sb', 'cycles');
        INSERT INTO reading VALUES (0, 1000000, 1, 98, 14416000), (0, 1000000, 1, 99, 720800)" \
        "in-core: .* in 20%.* the queue beyond L2 was full" 'store buffer'
cached="UPDATE line_finding SET verdict = 'cache'"
note "$cached" "The model's prefetchers were off"
note "$cached; INSERT INTO run VALUES ('sim_prefetch', 'l2-stream')" $by_line prefetchers
# Which cache, where that is known, is in the row.
note "$cached, cache_level = 'L3'" '  cache (L3)  stream\.c:10 '

# Of a type every field is a row, but those without samples that follow each other are one,
# unless all are asked for. A row of several fields may be of each that it names, of one
# within such a field too.
changed memlag.db folded.db "INSERT INTO data_type (type_id, name, size_bytes) VALUES (9, 'struct folded', 160);
        INSERT INTO type_field (field_id, type_id, name, type, offset_bytes, size_bytes) VALUES
                (1, 9, 'head', 'long', 0, 8), (2, 9, 'is.a', 'int', 8, 1), (3, 9, 'is.b', 'int', 8, 1),
                (4, 9, 'is.c', 'int', 8, 1), (5, 9, 'u.x', 'long', 16, 8),
                (6, 9, 'u.y[].low', 'int', 16, 4), (7, 9, 'u.y[].high', 'int', 20, 4),
                (8, 9, 'u.z', 'char', 16, 1), (9, 9, 'one', 'long', 24, 8),
                (20, 9, 'is.a|b', 'int', 8, 1), (21, 9, 'u.x|y', 'union u', 16, 8);
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
        INSERT INTO type_field (field_id, type_id, name, type, offset_bytes, size_bytes)
                SELECT 10 + i, 9, 'rest' || i, 'long', 32 + 8 * i, 8 FROM n;
        INSERT INTO field_finding (field_id, samples, dram_samples, latency_share, verdict, level_samples)
                VALUES (1, 800, 0, 0.5, 'cache', 800), (2, 2, 0, 0.1, 'cache', 2),
                (20, 7, 0, 0.1, 'cache', 7), (21, 50, 0, 0.1, 'cache', 50), (9, 3, 0, 0.1, 'cache', 3);
        INSERT INTO type_padding VALUES (9, 9, 7), (9, 40, 1), (9, 48, 6), (9, 112, 8)"
expect "samples that may be of a field" "$(sqlite3 folded.db "
        SELECT group_concat(field || ' ' || samples || ' ' || undecided_samples, ', ')
        FROM type_view WHERE field NOT LIKE 'rest%'")" \
        'head 800 0, is.a 2 7, is.b 0 7, is.c 0 0, is.a|b 7 0, u.x 0 50, u.y[].low 0 50, u.z 0 0, u.x|y 50 0, u.y[].high 0 50, one 3 0'
"$MEMLAG" report -v --by type folded.db >folded.out
says ' 2-9  .* struct folded  *is\.a$' folded.out
says '^  *32  *80  *0-1  *struct folded  *\.\.\. 10 unsampled, 15 bytes of padding$' folded.out
expect "rows of a type" "$(grep -c ' struct folded ' folded.out)" 12
"$MEMLAG" report -v --by type --top 0 folded.db >folded.out
expect "all rows of a type" "$(grep -c ' struct folded ' folded.out)" 21
# A field without samples is not called unused where loads have no type.
fields="INSERT INTO data_type (type_id, name, size_bytes) VALUES (9, 'struct node', 16);
        INSERT INTO type_field (field_id, type_id, name, type, offset_bytes, size_bytes)
                VALUES (9, 9, 'next', 'struct node *', 0, 8);
        INSERT INTO field_finding (field_id, samples, dram_samples, latency_share, verdict, level_samples)
                VALUES (9, 800, 0, 0.9, 'cache', 800);
        DELETE FROM line_object_finding; INSERT INTO line_object_finding (line_id, samples, mean_latency_cycles)
                SELECT line_id, 60, 10 FROM line_finding WHERE line = 10"
note "$cached; $fields" "--by type' shows which fields"
note "$fields" '10.0% of the latency has no type, most of it at stream\.c:10: ' '' --by type
note "$fields; UPDATE field_finding SET latency_share = 0.995" struct 'has no type' --by type

# "Latency is not time" appears if loads overlap, with a remedy. 228 000 cycles of latency, each of
# 100 loads, of 72 080 000: 31.6 %. A counter's smaller figure for the lost time appears beside it.
# It always appears if loads overlap.
overlap='latency is not time; record time with'
alone="UPDATE run SET value = 100 WHERE key = 'period_loads'"
idle="INSERT INTO counter (counter_id, name, unit) VALUES (99, 'cycle_activity.stalls_l1d_pending', 'cycles');
        INSERT INTO reading VALUES (0, 1000000, 1, 99"
note "" "$overlap --freq\."
note "UPDATE run SET value = 'pebs' WHERE key = 'source'" "$overlap --source clock\."
note "$alone; $idle, 7208000)" 'at most 31\.6% of the cycles\. For 10\.0% of the cycles the core did nothing' "$overlap"
note "$alone; $idle, 36040000)" 'at most 31\.6%' 'did nothing'
note "$idle, 36040000)" 'For 50\.0% of the cycles the core did nothing' 'ended by signal'
# Cycles without execution are no measure of lines that threads write by turns.
by_turns="Threads that write to each other's lines"
note "$idle, 36040000)" $by_line "$by_turns"
note "$idle, 36040000); UPDATE line_finding SET verdict = 'sharing' WHERE line = 10" "$by_turns"
# Loads that already request several lines at a time need no advice to overlap. walk's samples from
# DRAM, 210 cycles and 1000 loads each, request 0.3 lines at a time, or 2.
already='dram-latency: .* 2\.[0-9] such misses overlap already'
note "" dram-latency 'overlap already' -S walk
note "UPDATE line_finding SET dram_samples = 700 WHERE line = 20" "$already" '' -S walk
# DRAM at its limit is not called idle where LMRL is low.
note "UPDATE interval SET contended = 0" \
        'Contended: none of 10 intervals\. In 4 intervals DRAM was near its limit\. '
# A program that hardly waits gets no advice, for any verdicts.
hardly="UPDATE run SET value = 10 WHERE key = 'period_loads'; UPDATE interval SET contended = 0, bound = 'compute' WHERE contended = 1;
        DELETE FROM reading WHERE counter_id IN (SELECT counter_id FROM counter WHERE name LIKE '%full%' OR name LIKE 'resource_%')"
note "$hardly; $idle, 720800)" \
        "  Waiting for memory is not what this program's time goes to\. The program waited .* at most 3\.2% of .* lost\.  latency "
note "$hardly; $idle, 7208000)" $by_line 'this program'
# ---- source text ----------------------------------------------------------------
mkdir src
seq -f 'text of line %g' 1 30 | sed '9s/.*//; 11s/.*/\t  /' >src/stream.c
sqlite3 memlag.db "
        UPDATE name SET text = '$PWD' || text
                WHERE name_id IN (SELECT file_id FROM code_location); UPDATE line_finding SET file = '$PWD' || file"
# A recording may come from anybody: a file that its program's debug information does not
# name is not read.
"$MEMLAG" report -v >out
! grep -q 'text of line' out || fail "a file that no debug information names is read"
printf '#line 1 "%s/src/stream.c"\nvoid _start(void) { __asm__(".skip 256"); }\n' "$PWD" |
        "${CC:-cc}" -g -x c - -nostdlib -static -Wl,-Ttext=0x1000 -o named
sqlite3 memlag.db "INSERT INTO name_source (module_id, role, path, size_bytes, modified_ns)
        VALUES (1, 'file', '$PWD/named', 0, 0)"
"$MEMLAG" report -v >out
grep -q '^  > *10  text of line 10$' out || fail "the worst line's text is not shown"
grep -q '^ *12  text of line 12$' out || fail "the lines around it are not shown"
[ "$(grep -c '^ *9$' out)$(grep -c '^ *11$' out)" = 11 ] || fail "empty lines around it: $(cat out)"
! grep -q ' $' out || fail "blanks at the end of a line: $(cat -A out)"
! "$MEMLAG" report -v --no-source | grep -q 'text of line' || fail "--no-source shows source"
sqlite3 memlag.db "UPDATE line_finding SET module = '$PWD/program' WHERE module <> ''"
# Not everything that a path names is a text to read.
rm src/stream.c
mkfifo src/stream.c
timeout 100 "$MEMLAG" report -v >out || fail "a FIFO in place of a source"
tr "\n" " " <out | grep -q "Source text not found: .*:[0-9]" || fail "a missing source is not told"
for source in "truncate -s 1T" "ln -s /proc/self/status"; do
        rm src/stream.c
        $source src/stream.c
        timeout 100 "$MEMLAG" report -v >out || fail "$source in place of a source"
        tr "\n" " " <out | grep -q "Source text not found: .*:[0-9]" || fail "$source is taken for a source"
done

# ---- every kind, every format ---------------------------------------------------
for by in line function object caller interval; do
        "$MEMLAG" report -v --by $by >/dev/null
        "$MEMLAG" report --by $by --format csv >$by.csv
        "$MEMLAG" report --by $by --format json >$by.json
        python3 -m json.tool $by.json >/dev/null || fail "--by $by: not JSON"
done
expect "the columns of line_view, and where the numbers come from" "$(head -1 line.csv)" \
"module,function,file,line,samples,dram_samples,mean_latency_cycles,p95_latency_cycles,latency_share,contended_samples,verdict,caller_module,caller_function,caller_file,caller_line,caller_share,function_offset,stalled_ratio,line_id,cache_level,level_samples,page_faults,fault_ratio,measured_ratio,measured_ratio_low,measured_ratio_high,certainty,certainty_margin,other_verdict,source,numbers"
expect "the worst function" "$(sed -n 2p function.csv | cut -d, -f2,3,9)" \
        "stream,400,dram-contention"
expect "the worst object" "$(sed -n 2p object.csv | cut -d, -f1,2,13-19,26-)" \
        "heap,orders,dram-contention,,1,,400,0,,sim,modelled"
expect "the intervals" "$(tail -n +2 interval.csv | wc -l)" 10
expect "the intervals in the order of time" "$(tail -n +2 interval.csv | cut -d, -f1)" \
        "$(tail -n +2 interval.csv | cut -d, -f1 | sort -n)"
expect "the most contended interval" "$("$MEMLAG" report --by interval --top=1 --format=csv | sed -n 2p | cut -d, -f10,11)" "1,bandwidth"
expect "JSON" "$(as_json 'it["numbers"], it["run"]["samples"],
        *[it["rows"][0][key] for key in ("function", "line", "verdict")],
        *[l["value"] for l in it["ledger"] if l["kind"] == "no line"]' <line.json)" \
        "modelled 885 stream 10 dram-contention 30"
expect "rows of --top" "$("$MEMLAG" report --top 2 --format csv | wc -l)" 3
expect "all rows" "$("$MEMLAG" report --top 0 --format csv | wc -l)" 7

# ---- a choice of functions and modules --------------------------------------------
chosen() { # ARGUMENTS: the functions shown, in one line
        "$MEMLAG" report --format csv "$@" | cut -d, -f2 | tail -n +2 | paste -sd' '
}
expect "one function" "$(chosen -S walk)" "walk"
expect "a pattern" "$(chosen --symbols '*l*')" "walk columns look_up"
rows() { # ARGUMENTS: function (or ?) and samples of the rows, in one line
        "$MEMLAG" report --format csv "$@" | tail -n +2 | sed 's/^[^,]*,,/-,?,/' |
                cut -d, -f2,5 | paste -sd' '
}
expect "code without a name" "$(rows -S '[unknown]')" "?,30"
expect "all code" "$(rows -S '*' | wc -w)" 6
changed memlag.db odd.db "
        UPDATE line_finding SET function = 'k' WHERE line = 30;
        UPDATE function_finding SET function = 'k' WHERE function = 'look_up';
        UPDATE line_finding SET module = '/tmp/a[1]/prog[2]' WHERE line = 40;
        UPDATE function_finding SET module = '/tmp/a[1]/prog[2]' WHERE function = 'columns';
        UPDATE line_finding SET module = '/lib/code.so' WHERE function IS NULL;
        UPDATE function_finding SET module = '/lib/code.so' WHERE function IS NULL;
        UPDATE line_finding SET samples = 2, latency_share = 0.0001,
                verdict = 'too-few-samples' WHERE line = 50"
long="map<$(seq -s, 40)>"
for table in line_finding function_finding; do
        sqlite3 odd.db "UPDATE $table SET function = '$long::operator[](int)' WHERE function = 'walk'"
done
expect "code without a name is no set" "$(rows -S '[unknown]' odd.db)" "?,30"
"$MEMLAG" report -v --no-source odd.db >out
says ' \[code.so\]$' out
says ' map<...>::operator\[\](int)$' out
! grep -q ' once$' out || fail "two samples of many are shown"
changed odd.db alike.db "UPDATE line_finding SET function = '$long::put<argument_' || line || '>()'"
"$MEMLAG" report -v --no-source alike.db >out
for line in 10 20; do
        says "\.c:$line .* map<...>::put<argument_$line>()\$" out
done
expect "code as it is shown" "$(rows -S '[code.so]' odd.db)" "?,30"
expect "a name as it is shown" "$("$MEMLAG" report --format csv -S 'map<...>::operator[](int)' odd.db |
        grep -c 'map<1,2,3')" 1
expect "a path with brackets" "$(rows -d '/tmp/a[1]/prog[2]' odd.db)" "columns,50"
expect "a module with brackets" "$(rows -d 'prog[2]' odd.db)" "columns,50"
"$MEMLAG" report -v -S once odd.db | grep -q ' once$' || fail "a small row is not shown when it is chosen"
"$MEMLAG" report -v -S once --by function odd.db | grep -q ' once$' || fail "nor is a small function"
expect "a module by its name" "$(chosen -d made-up --by function)" \
        "stream walk columns look_up once"
expect "a module by its path" "$(chosen -d "$PWD/*" -S "wa*")" "walk"
expect "another module" "$(chosen --dsos libc.so.6)" ""
expect "JSON, too" "$("$MEMLAG" report -S walk --format json | as_json '*[row["function"] for row in it["rows"]]')" walk
"$MEMLAG" report -v -S walk >out
grep -q '^Only function walk: .*, 9.2% of the latency' out || fail "the choice is not told: $(cat out)"
tr '\n' ' ' <out | grep -q 'Only function walk: 100 of 885 samples, 9.2% of the latency; by the verdict on its lines: 100% dram-latency ' ||
        fail "what is chosen is not summed up: $(cat out)"
for detail in "" -v; do
        "$MEMLAG" report $detail -S walk |
                grep -q '^All figures above the table, and what is missing, are of the whole run\.$' ||
                fail "what the first lines of report $detail are of is not told"
done
expect "lines of the choice alone" "$(grep -c 'stream' out || true)" 0
grep -q '^ *9\.2%.* chase.c:20 ' out || fail "the chosen line is not shown"
! grep -q '^dram-contention: ' out || fail "advice on a verdict that is not shown"
grep -q '^dram-latency: ' out || fail "no advice on the chosen line's verdict"
"$MEMLAG" report -v -S nosuch >out
grep -q '^Only function nosuch: no sample was there\.$' out || fail "a choice of nothing is not told"
! grep -qe '^dram-[a-z]*: ' -e '^latency: ' -e '^ *latency  ' out || fail "words on a choice of nothing"
refuses 2 'choose with --by=line, function, object or type' "$MEMLAG" report -v --by thread -S walk
# At most ten lines and the gains of tried fixes precede the table, none much wider than 100 columns but the first and the last.
# The first line with the slowest location, and the pointer to further reading, stay.
changed memlag.db crowded.db "
        DELETE FROM run WHERE key IN ('state', 'signal', 'failure', 'calibration_poor', 'command');
        INSERT INTO run VALUES ('state', 'recording'), ('signal', 9), ('calibration_poor', 'it is old'),
                ('failure', '$(printf 'a part was not kept %.0s' 1 2 3 4 5 6 7 8 9 10 11 12)'),
                ('command', '$(printf 'argument %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)');
        INSERT INTO gain_finding (fix, gain_ratio, gain_low, gain_high, kind)
                SELECT 'fix ' || value, 0.5, 0.4, 0.6, 'recorded' FROM generate_series(1, 12);
        UPDATE line_finding SET function = 'space::' || replace(hex(zeroblob(60)), '00', 'long<of<long>>') || 'name'"
"$MEMLAG" report --summary crowded.db >out
[ "$(grep -vc '^If fix ' out)" -le 10 ] || fail "more than ten first lines: $(cat out)"
expect "gains in the first lines" "$(grep -c '^If fix ' out)" 12
says ' stream.c:10 in ' out
tail -1 out | grep -q '^More: memlag report' || fail "no further command: $(cat out)"
sed '1d; $d' out | awk 'length($0) > 100 { print; bad = 1 } END { exit bad }' || fail "wide lines"
[ "$(head -1 out | wc -c)" -le 320 ] || fail "a long command: $(head -1 out)"
# A recording's name is a word of the shell's in the command that shows more.
cp memlag.db "it's a recording.db"
"$MEMLAG" report --summary "it's a recording.db" | tail -1 | sed 's/^More: memlag report //; s/ \[.*//' >word
expect "the quoted name" "$(eval "printf %s $(cat word)")" "it's a recording.db"
# An interval that is contended in its busy part is not short of bandwidth for all of its time.
for used in 1:'in bursts' 0.2:'in bursts' 0.9:'for 100 % of the elapsed'; do
        changed memlag.db part.db "UPDATE interval SET contended = 1, write_gbs = 0, active_cores = NULL,
                read_gbs = ${used%%:*} * (SELECT value FROM machine WHERE key = 'dram_bandwidth_gbs')
                        * iif(${used%%:*} = 1 AND interval_id > 0, 0, 1)"
        "$MEMLAG" report --summary part.db | tr '\n' ' ' >out
        grep -q "DRAM bandwidth was short ${used#*:}" out || fail "$used: $(cat out)"
done
# Tables fit 100 columns; the numbers and both ends of a name stay. -W shows it whole.
for by in line function object type interval phase; do
        "$MEMLAG" report --by $by crowded.db | sed 1d >out
        awk 'length($0) > 100 { print; bad = 1 } END { exit bad }' out || fail "--by $by: wide lines"
done
"$MEMLAG" report crowded.db | grep -q '^ *87\.7% .* stream\.c:10  *space.*\.\.\..*name$' || fail "a cut name has not both ends"
"$MEMLAG" report -W crowded.db | grep -q 'stream\.c:10  *space::long<of<long>>long.*name$' || fail "-W: not the whole name"
"$MEMLAG" report --no-source -v crowded.db >out
[ "$(grep -c ': -50 % of the cycles' out)" = 12 ] || fail "gains are missing from the verbose report"

ends 2 "$MEMLAG" report --summary --format=json

# The report lists objects and types that the selected code accessed, with their figures of all
# code.
analyzed_change memlag.db touched.db "INSERT INTO module VALUES (9, '/lib/other.so', NULL);
        UPDATE code_location SET module_id = 9 WHERE location_id = 2;
        INSERT INTO data_type VALUES (1, 'struct order', 64), (2, 'struct ring', 16);
        INSERT INTO type_field VALUES (1, 1, 'id', 'int', 0, 4), (2, 2, 'next', 'struct ring*', 0, 8);
        UPDATE attribution SET field_id = 1 WHERE location_id = 1 OR location_id = 2 AND sample_id % 4 = 0;
        UPDATE attribution SET field_id = 2 WHERE location_id = 2 AND sample_id % 4 > 0"
touched() { # KIND ARGUMENTS: of each row the name and the samples
        "$MEMLAG" report --format csv --by "$@" touched.db | as_csv "*sorted(row['$1'] + ':' + row['samples'] for row in it)"
}
expect "objects of a module" "$(touched object -d other.so)" "ring:100"
expect "objects of a function" "$(touched object -S 'stre*')" "orders:400"
expect "types of a module" "$(touched type -d other.so)" "struct order:425 struct ring:75"
expect "types of the program" "$(touched type -d made-up)" "struct order:425"
expect "all types" "$(touched type)" "struct order:425 struct ring:75"
"$MEMLAG" report -v --by type -d made-up touched.db >out
grep -q '^Only what module made-up accessed, with the samples of all code$' out || fail "the choice of types is not told"
grep -q 'struct order' out && ! grep -q 'struct ring' out || fail "types of a module: $(cat out)"
"$MEMLAG" report -v --by object -d other.so touched.db >out
grep -q ' ring ' out && ! grep -q ' orders ' out || fail "objects of a module: $(cat out)"

# ---- threads: as the query of that name has them ----------------------------------
"$MEMLAG" report --by thread --format csv >threads.csv
expect "threads" "$(sqlite3 -separator ' ' :memory: ".import --csv threads.csv r" "SELECT pid, tid, name, samples,
        dram_samples, round(mean_latency_cycles, 1), contended_samples, round(100 * latency_share, 1) FROM r")" \
"100 101 worker 223 127 256.5 100 25.1
100 102 worker 222 126 256.8 100 25.0
100 103 worker 220 126 258.6 100 25.0
100 104 worker 220 126 258.6 100 25.0"

# Unknown counts are not shown as 0. A row with only fast loads has none, even in a run that has
# some.
untold()
{
        analyzed untold.db "$1; UPDATE sample SET latency_cycles = 20
                WHERE ip = 0x401010 AND sample_id % 3"
        for by in line function object thread; do
                "$MEMLAG" report --by $by --format csv --top 0 untold.db
        done | python3 -c '
import csv, sys
for row in csv.DictReader(line for line in sys.stdin if ",stream,/" in line or ",look_up,/" in line
                          or line.startswith("module,function,file")):
        print(row["function"], row["contended_samples"] or "NULL")' >out
}
untold "DELETE FROM reading WHERE EXISTS (SELECT 1 FROM sample
        WHERE ip = 0x401010 AND time_ns BETWEEN start_ns AND end_ns)"
expect "contended samples that are not known" "$(tr '\n' ' ' <out)" "stream NULL look_up 0 "
untold "DELETE FROM reading"
expect "contention that was never measured" "$(tr '\n' ' ' <out)" "stream NULL look_up NULL "
"$MEMLAG" report --by thread --format csv untold.db | tail -n +2 | cut -d, -f8 | sort -u >out
expect "those of threads" "$(cat out)" ""

# All threads are those without a sample too, but no CPU; one without a name has its
# program's.
changed memlag.db threads.db "UPDATE thread SET name = NULL WHERE tid = 104;
        INSERT INTO thread VALUES (5, 1, 105, 'idler', 0, 10000000);
        INSERT INTO process VALUES (2, 0, NULL, '[CPUs]', 0, NULL);
        INSERT INTO thread VALUES (6, 2, 0, 'CPU 0', 0, NULL)"
expect "all threads" "$("$MEMLAG" report -v --by thread --top 0 threads.db |
        awk '$6 == 100 || $6 == 0 { print $1, $2, $3, $7, $8 }')" \
"25.1% 223 57% 101 worker
25.0% 222 57% 102 worker
25.0% 220 57% 103 worker
25.0% 220 57% 104 made-up
- 0 - 105 idler"
expect "threads with samples" "$("$MEMLAG" report -v --by thread threads.db | grep -c idler || true)" 0

# ---- hostile names ----------------------------------------------------------------
changed memlag.db names.db "UPDATE line_finding
        SET function = CAST(x'1b5b324a2c220aff00e282ac' AS TEXT) WHERE line = 10"
"$MEMLAG" report -v names.db >out
expect "an escape sequence reaches the terminal" "$(grep -c "$(printf '\033')" out || true)" 0
grep -q '\\x1b\[2J,"\\n\\xff' out || fail "the name is not shown with escapes"
expect "the name in JSON" "$("$MEMLAG" report names.db --format json | as_json 'ascii(it["rows"][0]["function"][:8])')" \
        "'\x1b[2J,\"\n\ufffd'"
"$MEMLAG" report names.db --format csv | python3 -c '
import csv, io, sys
text = sys.stdin.buffer.read().replace(b"\0", b"?").decode("latin-1")
rows = list(csv.reader(io.StringIO(text, newline="")))
assert len({len(row) for row in rows}) == 1, rows
assert rows[1][1].startswith("\x1b[2J,\"\n\xff"), rows[1]' || fail "the name in CSV"

# ---- lines that are missing for want of debug information --------------------------
changed memlag.db stripped.db "UPDATE line_finding SET file = NULL, line = NULL, module = '/opt/bin/worker';
        INSERT INTO module (module_id, path, build_id) VALUES (999, '/opt/bin/worker', x'0abc12');
        INSERT OR REPLACE INTO ledger (stage, kind, value, unit)
        VALUES ('symbolize', 'samples with no line', 800, 'samples')"
"$MEMLAG" report -v stripped.db | tr '\n' ' ' >prose
says "For the lines of worker (build-id 0abc12): 'memlag symbolize --debuginfod', .*-dbgsym.*(--debuginfo-path DIR where.*build-id" prose
sqlite3 stripped.db "INSERT INTO ledger (stage, kind, value, unit)
        VALUES ('symbolize', 'debug files not delivered by servers', 1, 'files')"
! "$MEMLAG" report -v stripped.db | grep -q -e --debuginfod || fail "servers that did not deliver are to be asked again"

# ---- a recording that was cut off before it was analysed --------------------------
synthetic_database cut.db "UPDATE run SET value = 'recording' WHERE key = 'state';
        DELETE FROM run WHERE key = 'duration_ns'"
cp cut.db locked.db
"$MEMLAG" report -v cut.db >out 2>err
grep -q 'cut off' out || fail "a cut-off recording is not told"
grep -q 'not been analysed' err || fail "the analysis that the report made is not told"
grep -q 'dram-contention' out || fail "a cut-off recording is not analysed"
grep -q 'Duration 0.010 s' out || fail "the duration of a cut-off recording"
if [ "$(id -u)" != 0 ]; then
        chmod a-w locked.db
        refuses 1 "memlag analyze" "$MEMLAG" report -v locked.db
fi

# ---- what served the samples is not known: that is not "none by DRAM" ----------------
analyzed levels.db "UPDATE data_source SET level = 'NA'"
sqlite3 levels.db "INSERT INTO data_type (type_id, name, size_bytes) VALUES (9, 'struct node', 8);
        INSERT INTO type_field (field_id, type_id, name, type, offset_bytes, size_bytes)
                VALUES (9, 9, 'next', 'struct node *', 0, 8);
        INSERT INTO field_finding (field_id, samples, latency_share, verdict, level_samples)
                VALUES (9, 800, 0.9, 'unknown', 0)"
drams() # drams BY: the values of that column of the table
{
        "$MEMLAG" report -v --by "$1" --top 0 levels.db |
                awk '/ DRAM +mean/ { for (i = 1; i <= NF; i++) if ($i == "DRAM") column = i
                        left_out = $0 ~ /95% range/; next }
                     /^$/ { column = 0 }
                     column { print $(column - left_out) }' | sort -u
}
for by in line function object caller type thread; do
        expect "the column DRAM by $by" "$(drams $by)" -
        expect "dram_samples by $by" "$("$MEMLAG" report --by $by --format json levels.db |
                as_json '{row["dram_samples"] for row in it["rows"]}')" '{None}'
done
"$MEMLAG" annotate -i levels.db stream >out
says '% *400 *- *500 ' out
# All samples with a known level are DRAM's, however few.
analyzed levels.db "UPDATE data_source SET level = 'NA' WHERE level <> 'DRAM';
        UPDATE sample SET data_source_id = (SELECT data_source_id FROM data_source
                WHERE level = 'NA' AND op = 'load') WHERE ip = 0x401010 AND sample_id % 2"
for by in line function object caller thread; do
        expect "the column DRAM by $by where DRAM alone is known" "$(drams $by | grep -v '^-$')" 100%
        expect "level_samples by $by" "$("$MEMLAG" report --by $by --top 0 --format csv levels.db |
                as_csv '{row["dram_samples"] == row["level_samples"] for row in it if row["level_samples"] != "0"}')" '{True}'
done
"$MEMLAG" annotate -i levels.db stream >out
says '% *400 *100% ' out

# ---- a database of an older version: completed first, by all that read findings -------
analyzed present.db
old_database()
{
        rm -f old.db
        sqlite3 -bail old.db ".read '$SOURCE_DIR/tests/unit/schema_8.sql'" \
                ".read '$SOURCE_DIR/tests/integration/synthetic.sql'"
}
for command in report 'report -v' 'report --by object' 'export -i' 'annotate -i' 'diff present.db'; do
        old_database
        # shellcheck disable=SC2086 # a command with its arguments
        "$MEMLAG" $command present.db >out.present 2>err || fail "$command: $(cat err)"
        # shellcheck disable=SC2086
        "$MEMLAG" $command old.db >out.old 2>err || fail "$command of an older version: $(cat err)"
        sed -i s/old.db/present.db/g out.old
        cmp out.present out.old || fail "$command of an older version differs"
        grep -q 'by an earlier memlag; doing that first' err || fail "$command: not told: $(cat err)"
done
old_database
! "$MEMLAG" query old.db 'SELECT 1' 2>err || fail "a query has changed an older version"
grep -q "'memlag analyze old.db' brings it up to date" err || fail "no remedy: $(cat err)"

# ---- pipes, full disks, bad usage --------------------------------------------------
"$MEMLAG" report -v --by interval --top 0 | head -1 >/dev/null
if [ -e /dev/full ]; then
        ends 1 "$MEMLAG" report -v >/dev/full
        grep -q 'cannot write' err || fail "no message about a full disk"
fi
for command in report 'report --help' 'query --list' diff\ memlag.db\ memlag.db export; do
        # shellcheck disable=SC2086 # a command with its arguments
        ends 1 "$MEMLAG" $command >&-
        says 'cannot write the output'
done
! "$MEMLAG" report -v --by tlb 2>err || fail "--by tlb"
grep -q "query --name levels" err || fail "no advice for levels: $(cat err)"
for bad in '--by nothing' '--format xml' '--top -1' '--top x' 'a b' '-i a b'; do
        # shellcheck disable=SC2086 # options with their values
        ends 2 "$MEMLAG" report -v $bad >out
done
for empty in --symbols --dsos; do
        refuses 2 "^memlag report: $empty: the pattern is empty" "$MEMLAG" report -v $empty=
done
