#!/bin/bash
# SPDX-License-Identifier: MIT
# A simulated program finds no descriptor of the recording, also as another user, and the
# recording is whole.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

# A copy, because the program may damage its own file.
program=$PWD/hidden_parts
cp "$BINARY_DIR/tests/integration/hidden_parts" "$program"
status=0
"$program" >alone || status=$?
[ "$status" = 5 ] && [ "$(cat alone)" = "found 0" ] || fail "alone: $status $(cat alone)"

# recorded NAME COMMAND...: its output is as alone, and all of its records arrived
recorded()
{
        status=0
        "$MEMLAG" record --force -o "$1.db" --source sim -- "${@:2}" >"$1" 2>record.log || status=$?
        [ "$status" = 5 ] || fail "$1: status $status: $(cat record.log)"
        head -n 1 "$1" | diff alone - || fail "$1: $(head -n 5 "$1")"
        holds "$1.db" 0 "SELECT value FROM run_info WHERE key = 'lost'"
        holds "$1.db" 5 "SELECT value FROM run_info WHERE key = 'exit_status'"
}
recorded same_user "$program"
as_another=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" != 0 ] || ! "${as_another[@]}" test -x "$program"; then
        echo "hidden_parts: SKIPPED as another user: not root, or below a directory of root's" >&2
        exit 0
fi
mkdir -p -m 777 theirs
recorded another_user "${as_another[@]}" sh -c "cd theirs && exec \"$program\""
