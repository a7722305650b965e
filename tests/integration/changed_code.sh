#!/bin/bash
# SPDX-License-Identifier: MIT
# A simulated program whose code changes computes the same results as alone, in each way of
# changed_code.c.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

program=$BINARY_DIR/tests/integration/changed_code

# files DIRECTORY: one page of code (mov $0, %eax; ret) for each way, and older than what
# follows by more than the kernel's clock of files is coarse.
files()
{
        mkdir -p "$1"
        for way in pwrite pwritev sendfile splice anew child mapping; do
                printf '\xb8\0\0\0\0\xc3' >"$1/$way"
                truncate -s 4096 "$1/$way"
        done
        until [ "$(stat -c %.3Z "$1/mapping" | tr -d .)" -lt "$(($(date +%s%3N) - 20))" ]; do :; done
}

files alone-files
"$program" alone-files >alone
[ "$(wc -l <alone)" -ge 19 ] || fail "alone: $(cat alone)"
# 1 + 2 + ... + 20 and + 5
[ "$(grep -c ' 210$' alone)" -ge 9 ] && [ "$(grep -c ' 15$' alone)" = 7 ] || fail "alone: $(cat alone)"

files sim-files
"$MEMLAG" record --force -o changed.db --source sim -- "$program" sim-files >simulated 2>record.log ||
        fail "$(cat record.log)"
# The first report follows on standard output.
head -n "$(wc -l <alone)" simulated | diff alone - || fail "computes something else"
