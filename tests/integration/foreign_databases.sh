#!/bin/bash
# SPDX-License-Identifier: MIT
# A database may come from anybody and define any SQL. Each command answers as for the recording
# itself, or refuses it in one line. Texts of any size and kind are printed short and plain.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

# It ends what hangs.
SECONDS_MOST=60
analyzed whole.db
"$MEMLAG" report --top 0 whole.db >whole

# commands DATABASE: each reads it, to its end in time
commands()
{
        for command in "report -v" "report --by object --format csv" "annotate stream -i" "diff whole.db" \
                "export --format callgrind" symbolize analyze "report --top 0"; do
                status=0
                cp "$1" read.db
                timeout $SECONDS_MOST "$MEMLAG" $command read.db >out 2>err || status=$?
                [ $status -le 1 ] || fail "$1: $command: status $status: $(head -c 1000 err)"
                # CSV and exports are for programs.
                [[ $command = *csv* || $command = export* ]] ||
                        ! LC_ALL=C grep -q "$(printf '\342\200\256\|\342\201\246\|\033')" out err ||
                        fail "$1: $command prints marks that turn text"
                [ "$(cat out err | wc -c)" -lt 300000 ] || fail "$1: $command prints $(cat out err | wc -c) bytes"
        done
}

# answers NAME SQL: with what SQL does to it the database is as it was
answers()
{
        cp whole.db "$1.db"
        sqlite3 -bail "$1.db" "$2"
        commands "$1.db"
        tail -n +2 out | sed s/read.db/whole.db/ | diff - <(tail -n +2 whole) >difference || fail "$1: another report: $(cat difference)"
}

# refused NAME SQL: one line gives the reason
refused()
{
        cp whole.db "$1.db"
        sqlite3 -bail "$1.db" "$2"
        for command in "report" "annotate stream -i" "diff whole.db" "export --format callgrind" "query --name levels -i" \
                symbolize analyze; do
                status=0
                cp "$1.db" read.db
                timeout $SECONDS_MOST "$MEMLAG" $command read.db >out 2>err || status=$?
                [ "$status $(wc -c <out) $(wc -l <err)" = "1 0 1" ] || fail "$1: $command: $status $(cat out err)"
                grep -q 'read.db: .*;' err || fail "$1: $command says $(cat err)"
        done
}

endless="WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"

# ---- definitions -------------------------------------------------------------
answers published_view "DROP VIEW line_view; CREATE VIEW line_view AS $endless i AS line FROM n"
answers all_views "DROP VIEW run_info; CREATE VIEW Run_Info (key, value) AS $endless i, i FROM n"
answers view_of_the_schema "DROP VIEW location; CREATE VIEW location (location_id, module_id, address_offset, function, file,
        line, function_offset) AS $endless i, 1, i, 'f', 'f', 1, 0 FROM n"
answers condition "CREATE TABLE new AS SELECT * FROM threshold; DROP TABLE threshold;
        CREATE TABLE threshold (name TEXT PRIMARY KEY, value REAL CHECK
        (length(replace(hex(zeroblob(100000000 + value)), '0', 'abc')) > 0), unit TEXT, origin TEXT) STRICT;
        PRAGMA ignore_check_constraints = 1; INSERT INTO threshold SELECT * FROM new; DROP TABLE new"
answers other_tables "CREATE TABLE mine (i); INSERT INTO mine VALUES (1); CREATE VIEW yours AS $endless i FROM n;
        CREATE INDEX sample_time ON sample (time_ns)"
refused column_worked_out "ALTER TABLE thread ADD COLUMN slow INTEGER AS (length(hex(zeroblob(400000000))))"
refused index_worked_out "CREATE INDEX slow ON sample (abs(time_ns))"
refused partial_index "CREATE INDEX slow ON sample (time_ns) WHERE time_ns % 2 = 0"
refused virtual_table "CREATE VIRTUAL TABLE slow USING fts4(a)"
refused no_table "PRAGMA legacy_alter_table = 1; ALTER TABLE sample RENAME TO sample_2;
        CREATE VIEW sample AS $endless s.* FROM sample_2 AS s, n"

# ---- texts -------------------------------------------------------------------
long="replace(hex(zeroblob(5000000)), '0', 'x')"
turned="char(0x202e, 0x2066) || 'cod.exe' || char(27) || '[2J'"
for text in "$long" "$turned"; do
        changed whole.db text.db "UPDATE name SET text = $text WHERE name_id = 1;
                UPDATE line_finding SET function = $text, file = $text WHERE line_id = 1;
                UPDATE data_object SET name = $text WHERE object_id = 2; UPDATE module SET path = $text;
                UPDATE run SET value = $text WHERE key IN ('command', 'cpu');
                UPDATE ledger SET kind = $text WHERE stage = 'record';
                UPDATE counter SET name = $text WHERE counter_id = 1;
                UPDATE machine SET origin = $text WHERE key = 'clock_mhz'"
        commands text.db
done

# ---- long names of many rows: temporary files have a limit ---------------------
changed whole.db rows.db "UPDATE name SET text = $long; WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
        INSERT INTO code_location SELECT 100000 + i, 1, 100000 + i, min(name_id), max(name_id), i FROM n, name GROUP BY i;
        INSERT INTO ip_location SELECT 1, location_id + 1000000, location_id FROM code_location WHERE location_id > 100000;
        INSERT INTO sample SELECT location_id, 1, 1, 0, location_id + 1000000, 64, 300, 1, NULL, 0, NULL FROM code_location
        WHERE location_id > 100000"
status=0
(ulimit -f 150000 && "$MEMLAG" analyze rows.db >out 2>err) || status=$?
[ "$status $(wc -l <err)" = "1 1" ] && grep -q 'allow larger files (ulimit -f)' err || fail "rows: $status $(cat err)"

# ---- numbers -----------------------------------------------------------------
for number in 9223372036854775807 -9223372036854775808 -1; do
        changed whole.db number.db "PRAGMA ignore_check_constraints = 1;
                UPDATE interval SET end_ns = $number WHERE interval_id % 2;
                UPDATE OR IGNORE reading SET end_ns = $number WHERE start_ns = 0;
                UPDATE code_location SET line = $number; UPDATE line_finding SET line = $number;
                UPDATE sample SET time_ns = $number WHERE sample_id % 3 = 0;
                UPDATE run SET value = $number WHERE key IN ('duration_ns', 'interval_ns', 'period_loads')"
        commands number.db
done

# ---- queries touch no file -----------------------------------------------------
cp whole.db query.db
for sql in "ATTACH 'made' AS m" "VACUUM INTO 'made'" "SELECT load_extension('made')" "SELECT writefile('made', 'x')" \
        "SELECT readfile('/etc/passwd')" "PRAGMA temp_store_directory = '.'" "CREATE TABLE made (i)" \
        "SELECT * FROM fsdir('.')" "PRAGMA journal_mode = WAL"; do
        ends 1 "$MEMLAG" query -i query.db "$sql" >out
        [ ! -s out ] || fail "$sql: $(cat out)"
done
[ ! -e made ] && cmp whole.db query.db || fail "a query writes"
