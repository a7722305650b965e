#!/bin/bash
# SPDX-License-Identifier: MIT
# The newcomer's one command, in a copy of the source tree whose path has spaces, from another
# directory and without a terminal. It prints a report that names the slow line, and so does a
# second run.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

fail()
{
        echo "quickstart: $*" >&2
        cat output >&2
        exit 1
}

copy="$PWD/a fresh copy"
mkdir "$copy" elsewhere
tar -C "$SOURCE_DIR" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$copy" -xf -
line=$(grep -n 'mark: slow-line' "$copy/examples/contention/contention.c" | cut -d: -f1)

cd elsewhere
for attempt in first second; do
        "$copy/examples/quickstart.sh" >output 2>&1 </dev/null || fail "$attempt run: status $?"
        grep -q 'modelled' output || fail "$attempt run does not say that numbers are modelled"
        says "contention\.c:$line.*dram-contention\|dram-contention.*contention\.c:$line" output
        [ -s "$copy/build/contention.db" ] || fail "$attempt run left no database"
done
[ "$(ls)" = output ] || fail "it left files in the working directory: $(ls)"
