#!/bin/bash
# SPDX-License-Identifier: MIT
# Every example's report agrees with its README. The table there names the marked source lines, the
# verdicts and their ranks. The line numbers in the pasted report still match the source.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

# The line number of a mark in a source file.
marked_line()
{
        local line
        line=$(grep -n "mark: $2\b" "$1" | cut -d: -f1)
        [ -n "$line" ] || fail "no mark $2 in $1"
        echo "$line"
}

# Rows of the table 'what | mark | verdict | place' in a README.
expectations()
{
        sed -n '/^| *what *|/,/^$/p' "$1" | tail -n +3 |
                awk -F'|' 'NF > 1 { for (i = 2; i <= 5; i++) gsub(/^ +| +$|`/, "", $i)
                             print $2 ";" $3 ";" $4 ";" $5 }'
}

# The verdict and rank (1 is first) of the row of view $1 for which $2 holds, or nothing.
finding()
{
        "$MEMLAG" query -i "$database" --format csv "SELECT verdict, place FROM (
                        SELECT *, row_number() OVER (ORDER BY latency_share DESC) AS place FROM $1)
                WHERE $2" | tail -n +2
}

check()
{
        local what=$1 mark=$2 verdict=$3 place=$4 found line name
        line=$(marked_line "$source" "$mark")
        # A global's name stands before its dimensions or its semicolon.
        name=$(sed -n "${line}s/^static [a-z0-9_ ]* \([a-z_]*\)[[;].*/\1/p" "$source")
        case $what in
        line) found=$(finding line_view "file LIKE '%/$example.c' AND line = $line") ;;
        object)
                found=$(finding object_view "alloc_file LIKE '%/$example.c' AND alloc_line = $line
                        OR object_kind = 'global' AND object = '$name'")
                ;;
        *) fail "$example/README.md: unknown row '$what'" ;;
        esac
        case $place in
        first) [ "$found" = "$verdict,1" ] ;;
        present) [ "${found%,*}" = "$verdict" ] ;;
        absent) [ -z "$found" ] || [[ ! "$found" =~ ^($alarming), ]] ;;
        *) fail "$example/README.md: unknown place '$place'" ;;
        esac || {
                "$MEMLAG" report -v -i "$database" >&2
                fail "$example: $what $mark ($example.c:$line) must be $verdict $place, is '$found'"
        }
}

# Verdicts that call for action.
alarming="dram-contention|dram-latency|remote-memory|sharing|tlb|in-core"

# No line of the example's own source may have an alarming verdict.
check_nothing()
{
        local found
        found=$("$MEMLAG" query -i "$database" --format csv "
                SELECT line, verdict FROM line_view WHERE file LIKE '%/$example.c'" |
                grep -E ",($alarming)\$") || return 0
        fail "$example: nothing to report, but: $found"
}

# 'FILE.c:LINE' in the pasted report points at a marked line.
check_pasted_report()
{
        local pasted line
        pasted=$(sed -n '/^```/,/^```$/p' "$1")
        [ -n "$pasted" ] || fail "$1 has no report"
        for line in $(grep -o "$example\.c:[0-9]*" <<<"$pasted" | cut -d: -f2 | sort -u); do
                sed -n "${line}p" "$source" | grep -q 'mark:' ||
                        fail "$1: its report names $example.c:$line, which has no mark"
        done
}

for example in contention chase friendly columns false-sharing remote; do
        source=$SOURCE_DIR/examples/$example/$example.c
        readme=$SOURCE_DIR/examples/$example/README.md
        database=$example.db
        # The first command of the README, with the program's arguments.
        command=$(sed -n "s/^    memlag record \(.*\) -- .*examples\/$example\(.*\)$/\1 -- \2/p" "$readme" | head -n 1)
        [ -n "$command" ] || fail "$example/README.md has no record command"
        # shellcheck disable=SC2086 # a list of options
        ends 0 "$MEMLAG" record --source sim ${command%% -- *} -- "$BINARY_DIR/examples/$example" ${command#* -- } >out
        rows=0
        while IFS=';' read -r what mark verdict place; do
                rows=$((rows + 1))
                case $what in
                nothing) check_nothing ;;
                *) check "$what" "$mark" "$verdict" "$place" ;;
                esac
        done < <(expectations "$readme")
        [ "$rows" -gt 0 ] || fail "$example/README.md has no table of what to expect"
        check_pasted_report "$readme"
        check_pasted_report "$SOURCE_DIR/README.md"
done

# With huge pages the example of the TLB has another problem.
source=$SOURCE_DIR/examples/columns/columns.c
if "$BINARY_DIR/examples/columns" 1 1 1 >/dev/null 2>&1; then
        record huge $SIM -- "$BINARY_DIR/examples/columns" 1024 4 1
        database=huge.db
        expect "columns with huge pages" "$(finding line_view "file LIKE '%/columns.c'
                AND line = $(marked_line "$source" slow-line)")" cache,1
else
        echo "examples: SKIPPED columns with huge pages: this kernel has none" >&2
fi
