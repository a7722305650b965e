#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/schema.md describes all columns of a recorded database, in their order, and no others.
. "$SOURCE_DIR/tests/integration/library.sh"

"$MEMLAG" record $SIM -o run.db -- true

# The views are a promise: these names may not change with the schema.
promised='allocation_total allocation_view calibration_view caller_view field_use_view function_view gain_view inline_frame interval_view library_view line_asker_view line_gain_view line_measured_view line_object_view line_use_view line_view location object_gain_view object_view packed_stack phase_interval_view phase_limit_view phase_view prefetch_view process_view run_info sample_location sample_view sharing_pair_view sharing_view stack stack_location stall_view type_view unresolved_view utilisation_view working_set_view '
views=$(sqlite3 -readonly run.db \
        "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name" | tr '\n' ' ')
if [ "$views" != "$promised" ]; then
        echo "views: '$views', promised: '$promised'" >&2
        exit 1
fi

# Lines "table column", the tables in alphabetic order.
sqlite3 -readonly -separator ' ' run.db "
        SELECT s.name, c.name
        FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
        WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite_%'
        ORDER BY s.name, c.cid" >real

awk '/^### / { table = $2; next }
     /^#/ { table = "" }
     table && /^\| [a-z_0-9, ]+ \|/ {
             split($0, cells, "|")
             count = split(cells[2], names, /[, ]+/)
             for (i = 1; i <= count; i++)
                     if (names[i])
                             print table, names[i]
     }' \
        "$SOURCE_DIR/doc/schema.md" | LC_ALL=C sort -s -k1,1 >documented

# Nothing compared is nothing proved.
[ "$(wc -l <real)" -gt 100 ]
diff -u documented real

# Every kind of the ledger is explained, in the words of the code.
cd "$SOURCE_DIR"
{
        grep -rhoE '(sink_loss|loss|count)\((sink|[a-z_>-]*(->sink|deliver|import|images)), *"[^"]*"' profiler |
                sed 's/.*"\(.*\)"/\1/'
        grep -rhoE '^ *\{"[a-z][^"%]*", *[a-z][^"]*,( "|$)' profiler/import/import.c profiler/sources/source_perf.c \
                analysis/analyze.c symbolize/resolution.c | grep -v '{"in",' | sed 's/[^"]*"\([^"]*\)".*/\1/'
        sed -n 's/.*{"in", "\([^"]*\)".*/\1/p' symbolize/resolution.c
        sed -n '/^const char \*unnamed_function/,$s/.*return "\(.*\)".*/\1/p' symbolize/objects/unnamed.c
        sed -n 's/.*\[UNTYPED_[A-Z_]*\] = "\(.*\)".*/\1/p' symbolize/evidence/type_source.c | grep -v 'no data address'
} | sort -u >"$OLDPWD/kinds"
cd "$OLDPWD"
[ "$(wc -l <kinds)" -gt 50 ]
while read -r kind; do
        grep -q "^|.*\`\(.*[ ]\)\{0,1\}$kind\`" "$SOURCE_DIR/doc/schema.md" || {
                echo "doc/schema.md does not explain the ledger's '$kind'" >&2
                exit 1
        }
done <kinds
