#!/bin/sh
# SPDX-License-Identifier: MIT
# Variables of inner blocks that the compiler says are in a register, and that share it with
# other pointers of the block, in programs that registers/generate.py makes: what is said of an
# access must be right, or open.
set -eu

fail()
{
        echo "set_registers.sh: $*" >&2
        exit 1
}

# measure SEED SHARE NAME COMPILER OPTION...: SHARE of the samples in blocks have the right field.
measure()
{
        seed=$1 share=$2 name=$3_$1
        shift 3
        python3 "$SOURCE_DIR/tests/integration/registers/generate.py" "$seed" 12 >"$name.c"
        "$@" -g -w -o "$name" "$name.c" 2>"$name.err" || fail "$name: $(cat "$name.err")"
        "$MEMLAG" record -o "$name.db" $LOADS --sim-detail cache --ldlat 1 --period 1 \
                -- "./$name" >"$name.out" 2>"$name.err" || fail "$name: $(cat "$name.err")"
        python3 "$SOURCE_DIR/tests/integration/registers/check.py" "$name.db" "$name.out" \
                "$share" || fail "$name: not as it is known to be"
}

measure 2 0.85 gcc gcc -O2
measure 3 0.8 lto gcc -O3 -flto
if command -v clang >/dev/null; then
        measure 2 0.9 clang clang -O2
else
        echo "set_registers.sh: SKIPPED with clang: it is not installed" >&2
fi
