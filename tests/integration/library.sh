# SPDX-License-Identifier: MIT
# Sourced by each script: it ends at the first command that fails.
set -eu

fail()
{
        echo "$(basename "$0" .sh): $*" >&2
        exit 1
}

# A message names the missing part, and ctest counts the script as skipped.
skip()
{
        echo "SKIPPED: $(basename "$0" .sh): $*"
        exit 77
}

# has PROGRAM: it is installed. Where it is not, a part of the script is skipped.
has()
{
        command -v "$1" >/dev/null || { echo "SKIPPED: $(basename "$0" .sh): no $1" >&2 && return 1; }
}

# expect WHAT IS MUST_BE
expect()
{
        [ "$2" = "$3" ] || fail "$1: must be
$3
is
$2"
}

# ends STATUS COMMAND...: the command ends with STATUS. Its standard error is in the file err.
ends()
{
        status_wanted=$1 status=0
        shift
        "$@" 2>err || status=$?
        [ "$status" -eq "$status_wanted" ] || fail "status $status, not $status_wanted: $*: $(cat err)"
}

# says PATTERN [FILE]: it has a line with the pattern of grep. FILE is err where none is named.
says()
{
        grep -q -e "$1" "${2:-err}" || fail "no '$1' in: $(cat "${2:-err}")"
}

# lacks PATTERN [FILE]: it has no such line.
lacks()
{
        ! grep -q -e "$1" "${2:-err}" || fail "'$1' in: $(cat "${2:-err}")"
}

# compile OPTION...: by the C compiler, with the headers of target.h.
compile()
{
        "$CC" -O1 -g -pthread -include "$SOURCE_DIR/tests/integration/target.h" "$@"
}

# program NAME [OPTION...]: makes it from the source in C on standard input.
program()
{
        built=$1
        shift
        cat >"$built.c"
        compile -o "$built" "$built.c" "$@"
}

# refuses STATUS PATTERN COMMAND...: it ends so and says why, in a line with PATTERN.
refuses()
{
        status_refused=$1 reason=$2
        shift 2
        ends "$status_refused" "$@" >out
        says "$reason"
}

# until_true COMMAND...: waits until it succeeds, at most five minutes: a test that hangs ends.
until_true()
{
        waited_until=$(($(date +%s) + 300))
        until "$@" 2>/dev/null; do
                [ "$(date +%s)" -lt "$waited_until" ] || fail "it does not come to: $*"
                sleep 0.02
        done
}

# ended STATUS PID [FILE]: the process in the background ends so. FILE (err) has its messages.
ended()
{
        status_ended=0
        wait "$2" || status_ended=$?
        [ "$status_ended" -eq "$1" ] || fail "status $status_ended, not $1: $(cat "${3:-err}")"
}

# record NAME OPTION... -- COMMAND...: records it simulated in NAME.db; its output is in out.
record()
{
        recorded=$1
        shift
        "$MEMLAG" record --force -o "$recorded.db" "$@" >out 2>&1 || fail "$recorded: $(cat out)"
}

# python ARGUMENT...: runs the program on standard input, with the modules that tests use.
python()
{
        {
                echo "import collections, csv, json, os, random, re, signal, sqlite3"
                echo "import statistics, struct, subprocess, sys, time"
                cat
        } >program.py
        python3 program.py "$@"
}

# as_json VALUES: prints them. They are Python; `it` is the JSON on standard input.
as_json()
{
        python3 -c "import json, sys; it = json.load(sys.stdin); print($1)"
}

# as_csv VALUES: the same with the rows of CSV.
as_csv()
{
        python3 -c "import csv, sys; it = list(csv.DictReader(sys.stdin)); print($1)"
}

# The answer of plain sqlite3, apart from the program under test.
answer()
{
        sqlite3 -bail -readonly "$1" "$2"
}

# holds DATABASE VALUE SQL: the answer to SQL is VALUE.
holds()
{
        expect "$1: $3" "$(answer "$1" "$3")" "$2"
}

# cycles_of DATABASE: of the whole run.
cycles_of()
{
        answer "$1" "SELECT CAST(sum(value) AS INTEGER) FROM reading JOIN counter USING (counter_id)
                WHERE name = 'cpu_clk_unhalted.thread'"
}

# changed DATABASE COPY SQL: the copy with SQL's change.
changed()
{
        cp "$1" "$2"
        sqlite3 -bail "$2" "$3"
}

# synthetic_database FILE [SQL]: whose truth is known (synthetic.sql), with SQL's change.
synthetic_database()
{
        rm -f "$1" "$1"-*
        sqlite3 -bail "$1" ".read '$SOURCE_DIR/profiler/db/schema.sql'" \
                ".read '$SOURCE_DIR/tests/integration/synthetic.sql'" "${2-}"
}

# analyzed FILE [SQL]: a synthetic_database with its findings.
analyzed()
{
        synthetic_database "$@"
        "$MEMLAG" analyze "$1"
}

# analyzed_change DATABASE COPY SQL: the same for a copy with SQL's change.
analyzed_change()
{
        changed "$@"
        "$MEMLAG" analyze "$2"
}

# by_version COMPILER VERSION OLD NEW: prints OLD where COMPILER is of VERSION or an earlier
# one, else NEW: later ones were seen to say less of where values are.
by_version()
{
        major=$("$1" -dumpversion)
        [ "${major%%.*}" -le "$2" ] && echo "$3" || echo "$4"
}

# Sets libcxx to the options with which clang++ compiles for libc++, from
# the system or from where tests/run.sh unpacked its headers. False: there is none.
find_libcxx()
{
        printf '#include <vector>\nint main() {}\n' >headers.cc
        unpacked="-nostdinc++ -isystem $BINARY_DIR/libc++/usr/include/c++/v1"
        unpacked="$unpacked -nostdlib++ -l:libc++.so.1 -l:libc++abi.so.1"
        for libcxx in -stdlib=libc++ "-stdlib=libc++ $unpacked"; do
                # shellcheck disable=SC2086 # a list of options
                clang++ headers.cc $libcxx -o headers 2>headers.log && return 0
        done
        return 1
}
