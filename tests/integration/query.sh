#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag query on a recording whose truth is known (synthetic.sql).
. "$SOURCE_DIR/tests/integration/library.sh"

synthetic_database memlag.db
"$MEMLAG" analyze
query()
{
        "$MEMLAG" query "$@"
}

# ---- ways to ask -------------------------------------------------------------------
must="n
885"
expect "SQL alone" "$(query --format csv 'SELECT count(*) AS n FROM sample')" "$must"
expect "a file and SQL" "$(query memlag.db 'SELECT count(*) AS n FROM sample' --format csv)" "$must"
expect "-i" "$(query --format csv -i memlag.db 'SELECT count(*) AS n FROM sample')" "$must"
expect "standard input" "$(echo 'SELECT count(*) AS n FROM sample;' | query --format csv)" "$must"
expect "a file and standard input" \
        "$(echo 'SELECT count(*) AS n FROM sample;' | query memlag.db --format csv)" "$must"
expect "several statements" "$(query --format csv 'SELECT 1 AS a; -- remark
        SELECT 2 AS b')" "a
1

b
2"

# ---- formats -----------------------------------------------------------------------
values="SELECT NULL AS none, '' AS empty, x'00ff' AS blob, 'a,\"b\"' AS quoted, -1.5 AS number, 9223372036854775807 AS big"
expect "CSV" "$(query --format csv "$values")" \
'none,empty,blob,quoted,number,big
,"",00ff,"a,""b""",-1.5,9223372036854775807'
expect "JSON" "$(query --format json "$values" | as_json it)" \
"[{'none': None, 'empty': '', 'blob': '00ff', 'quoted': 'a,\"b\"', 'number': -1.5, 'big': 9223372036854775807}]"
expect "table" "$(query "SELECT 1 AS n, 'x' AS word UNION ALL SELECT 100, NULL")" \
"  n  word
  1  x
100  NULL"
expect "no rows" "$(query --format json 'SELECT 1 WHERE 0')" "[]"
expect "names that repeat" "$(query --format json 'SELECT 1 AS a, 2 AS a' | as_json it)" "[{'a': 1, 'a:2': 2}]"

# ---- errors ------------------------------------------------------------------------
ends 1 query "SELECT 1;
SELECT line,
       colum FROM line_view" >out
expect "SQLite's message, and where" "$(cat err)" \
"         colum FROM line_view
         ^
memlag query: line 3: no such column: colum"

# SQLite gives no position for a missing part: it is at the end.
ends 1 query "SELECT (
  1 +
" >out
expect "where it ends" "$(cat err)" \
"    1 +
       ^
memlag query: line 2: incomplete input"

# It names none for a table that is not there, nor for a statement as a whole.
cat >lost.sql <<'END'
SELECT 1; -- lost
SELECT 'lost' /* lost */ AS lost2,
       * FROM main.Lost
END
ends 1 query --format csv <lost.sql >out
expect "what came before" "$(cat out)" "1
1"
expect "where the table is named" "$(cat err)" \
"         * FROM main.Lost
                     ^
memlag query: line 3: no such table: main.Lost; 'SELECT name FROM sqlite_schema' tells which there are"
ends 1 query "SELECT 1 AS a;
  SELECT 1 UNION SELECT 2, 3" >out
expect "where the statement begins" "$(tail -n 1 err | cut -d: -f1,2)" "memlag query: line 2"

# An error while a statement runs is the statement's fault, not the database's.
for wrong in "json('{')=malformed JSON" "abs(-9223372036854775808)=integer overflow" \
        "zeroblob(3000000000)=string or blob too big"; do
        ends 1 query "SELECT 1;
 SELECT ${wrong%=*}" >out
        expect "${wrong%=*}" "$(cat err)" "memlag query: line 2: ${wrong#*=}"
done
for nothing in "" "  " "/* a remark */"; do
        refuses 2 "no SQL given" query memlag.db "$nothing"
done
ends 2 query memlag.db </dev/null >out

refuse()
{
        sha256sum memlag.db >before
        ends 1 query "$1" >out
        grep -Eq "${2:-refused|readonly|read-only}" err || fail "$1: $(cat err)"
        sha256sum -c --quiet before || fail "$1 changed the database"
}
refuse "DELETE FROM sample"
refuse "INSERT INTO run VALUES ('a', 1)"
refuse "CREATE TABLE t (a)"
refuse "CREATE TEMP TABLE t (a)"
refuse "DROP VIEW line_view"
refuse "PRAGMA journal_mode = WAL"
refuse "PRAGMA user_version = 9"
refuse "PRAGMA writable_schema = 1"
refuse "ATTACH 'other.db' AS other" ': ATTACH: refused'
refuse "DETACH main" ': DETACH: refused'
refuse "VACUUM INTO 'other.db'" ': VACUUM: refused'
refuse "SELECT load_extension('other.so')"
[ ! -e other.db ] || fail "a refused statement made a file"
query "PRAGMA table_info(run)" | grep -q key || fail "a PRAGMA that reads is refused"
query "SELECT name FROM pragma_table_info('run')" | grep -q key || fail "a table-valued PRAGMA is refused"
query "SELECT value FROM json_each('[7]')" | grep -q 7 || fail "a table-valued function is refused"

# A failed write is reported as by the other commands.
for rows in 1 100000; do
        many="WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $rows)
              SELECT i FROM n; SELECT 1"
        for format in table csv json; do
                ends 1 query --format "$format" memlag.db "$many" >/dev/full
                expect "a full disk" "$(cat err)" \
                        "memlag query: cannot write the output: No space left on device"
        done
done
ends 1 query memlag.db "SELECT 1" >&-
expect "no output" "$(cat err)" "memlag query: cannot write the output: Bad file descriptor"

for bad in '--name nothing' '--format xml' 'a b c' '--name run a b'; do
        # shellcheck disable=SC2086 # options with their values
        ends 2 query $bad >out
done
ends 1 query -i absent.db 'SELECT 1'
synthetic_database raw.db
refuses 1 'memlag analyze' query raw.db 'SELECT * FROM line_view'

# Findings that were taken away, as symbolize does when names change, are not "none".
changed memlag.db taken.db 'DELETE FROM line_finding; DELETE FROM interval; DELETE FROM threshold'
for reader in 'SELECT * FROM line_view' 'SELECT count(*) FROM phase_view' 'SELECT 1 FROM Line_Finding'; do
        query taken.db "$reader" >out 2>err || fail "$reader: $(cat err)"
        expect "$reader without findings" "$(cat err)" \
                "memlag query: taken.db has no findings now, which this query reads: 'memlag analyze taken.db' makes them"
        query memlag.db "$reader" 2>err >out
        expect "$reader with findings" "$(cat err)" ""
done
query taken.db 'SELECT count(*) FROM sample; SELECT * FROM run_info' 2>err >out
expect "raw rows without findings" "$(cat err)" ""

# An endless query, ended as by Ctrl-C: at once and by the signal, so a script's loop ends, too. The
# rows finished before are there.
python "$MEMLAG" <<'END' >out || fail "an interrupt"
endless = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(x) FROM c"
query = subprocess.Popen([sys.argv[1], "query", "--format", "csv", "SELECT 7 AS a; " + endless],
                         stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
assert os.read(query.stdout.fileno(), 100) == b"a\n7\n"
query.send_signal(signal.SIGINT)
assert query.wait(60) == -signal.SIGINT, query.returncode
END
query 'SELECT a.* FROM sample AS a, sample AS b' | head -1 >/dev/null

# ---- the library -------------------------------------------------------------------
sqlite3 memlag.db "INSERT INTO instruction VALUES (1, 'mov    (%rcx),%eax', 4), (2, 'mov    (%rcx),%rcx', 8);
        INSERT INTO data_type VALUES (1, 'struct order', 64);
        INSERT INTO type_field VALUES (1, 1, 'price', 'int', 8, 4);
        INSERT INTO type_source VALUES (1, 'allocation', 'orders', 2);
        UPDATE attribution SET field_id = 1, type_source_id = 1 WHERE location_id = 1"
names=$(query --list | cut -d' ' -f1)
[ "$(echo "$names" | wc -l)" -ge 8 ] || fail "the library is small"
for name in $names; do
        query --name "$name" --format csv >$name.csv 2>err || fail "--name $name: $(cat err)"
        # No line waits for another's lines; nothing else here is empty.
        [ "$name" = askers ] || [ "$(wc -l <$name.csv)" -gt 1 ] || fail "--name $name has no rows"
done

first()
{
        sed -n 2p "$1.csv" | cut -d, -f"$2"
}
expect calibration "$(tail -n +2 calibration.csv)" \
"made,2026-01-02T03:04:05Z
machine.memory_bytes,34359738368
machine.virtual,1
caches.levels[0].latency_ns,1.25"
expect hot-lines "$(first hot-lines 1,2,3,6,8,9)" ",87.7,400,dram-contention,10,stream"
expect contended-lines "$(tail -n +2 contended-lines.csv)" \
        "400,400,100,500,dram-contention,/src/stream.c,10,stream"
expect objects "$(first objects 3,8,9)" "400,heap,orders"
expect allocation-sites "$(tail -n +2 allocation-sites.csv | cut -d, -f2,4,5,6)" \
"5,1,1048576,400
6,64,4096,100"
expect line-objects "$(first line-objects 2,5,6,8)" "10,orders,400,400"
expect latency-histogram "$(grep -v ',0$' latency-histogram.csv)" \
"from_cycles,below_cycles,samples
4,8,300
32,64,80
128,256,105
256,512,400"
expect levels "$(tail -n +2 levels.csv | cut -d, -f1,2,6,7)" \
"DRAM,505,0,400
L1,300,0,0
L2,50,50,0
L3,30,0,0"
expect levels-by-line "$(first levels-by-line 2,4-)" "10,400,0,0,0,0,400,0,0,0,0"
# A program that was built anew during the run has other instructions at its addresses; of
# some samples nothing tells the level.
changed memlag.db rebuilt.db "INSERT INTO module SELECT 100, path, x'99' FROM module WHERE module_id = 1;
        INSERT INTO code_location SELECT 100, 100, address_offset, function_id, file_id, line
                FROM code_location WHERE location_id = 1;
        DELETE FROM instruction;
        INSERT INTO instruction VALUES (1, 'mov (%rax),%rax', 8), (100, 'mov (%rdi),%edi', 4);
        UPDATE attribution SET location_id = 100 WHERE location_id = 1 AND sample_id % 4 = 0;
        UPDATE sample SET data_source_id = NULL WHERE sample_id IN
                (SELECT sample_id FROM attribution WHERE location_id = 100);"
query --name instructions --format csv rebuilt.db >rebuilt.csv
expect "instructions of a program built anew" "$(sqlite3 :memory: ".import --csv rebuilt.csv q" \
        "SELECT instruction, access_bytes, samples, DRAM, other, unknown FROM q")" \
"mov (%rax),%rax|8|300|300|0|0
mov (%rdi),%edi|4|100|0|0|100"
expect intervals "$(sed -n 6p intervals.csv)" "4,4,400,400,0.5,4,90,0,1,bandwidth"
expect phases "$(tail -n +2 phases.csv | cut -d, -f1-4)" \
"0,4,latency,4
4,8,bandwidth,4
8,9,compute,1
9,10,idle,1"
expect threads "$(tail -n +2 threads.csv | cut -d, -f1,2 | sort)" \
"100,101
100,102
100,103
100,104"
expect "threads' samples" "$(tail -n +2 threads.csv | awk -F, '{ n += $3 } END { print n }')" 885
expect counters "$(grep fb_full counters.csv)" "l1d_pend_miss.fb_full,16000000,cycles,"
expect "a counter that gained nothing" "$(grep write_bytes counters.csv)" "dram.write_bytes,0,bytes,"
expect thresholds "$(grep ^lmrl_cycles thresholds.csv)" "lmrl_cycles,250,cycles,preset made-up"
expect missing "$(tail -n +2 missing.csv)" \
"analysis,too few samples for a verdict,1,lines
record,records dropped,7,records
symbolize,no line,30,samples"
expect untyped-by-line "$(tail -n +2 untyped-by-line.csv)" \
"no debug information,5,/src/few.c,50,once,/bin/made-up"
expect type-sources "$(tail -n +2 type-sources.csv)" "struct order,allocation,orders,walk,/src/chase.c,20,400"
expect instructions "$(tail -n +2 instructions.csv)" \
'/bin/made-up,1010,"mov    (%rcx),%eax",4,stream,10,400,500,0,0,0,0,400,0,0,0
/bin/made-up,1020,"mov    (%rcx),%rcx",8,walk,20,100,210,0,0,0,0,100,0,0,0'
expect run "$(grep ^samples run.csv)" "samples,885"

# ---- limits, and texts with control characters or of misleading size ------------------
endless='WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n'
refuses 1 'after 1 s; give it longer with --time-limit' query --time-limit 1 "$endless"
large='SELECT length(hex(zeroblob(100000000)))'
refuses 1 'more memory than 64 MB; give it more with --memory-limit' query --memory-limit 64 "$large"
# An aggregate gets this message long before its last row.
growing='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000)
        SELECT length(group_concat(zeroblob(1000000))) FROM n'
refuses 1 'more memory than 64 MB' timeout 60 "$MEMLAG" query --time-limit 0 --memory-limit 64 "$growing"
expect "a large query with more memory" "$(query --format csv --memory-limit 1000 "$large" | tail -n 1)" 200000000
# A right-to-left override, with which what follows reads backwards.
expect "marks of direction" "$(query "SELECT char(8238) || 'cba' AS text" | tail -n 1)" '\xe2\x80\xaecba'
