#!/bin/sh
# SPDX-License-Identifier: MIT
# Fields of structures that hold arrays of structures that hold arrays, unions and
# bit-fields, in programs that nested/generate.py makes: each function reads one field of
# blocks without a type of their own. What is said of it must be right.
set -eu

fail()
{
        echo "nested_fields.sh: $*" >&2
        exit 1
}

# measure SEED COMPILER OPTION...
measure()
{
        seed=$1 compiler=$2
        shift 2
        name=nested_${seed}_$compiler
        python3 "$SOURCE_DIR/tests/integration/nested/generate.py" "$seed" 24 "$name.c" \
                "$name.truth"
        case $compiler in
        *++) "$compiler" -g -x c++ "$@" -o "$name" "$name.c" ;;
        *) "$compiler" -g "$@" -o "$name" "$name.c" ;;
        esac
        "$MEMLAG" record -o "$name.db" --source sim --ldlat 1 --period 7 -- "./$name" \
                >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
        python3 "$SOURCE_DIR/tests/integration/nested/check.py" "$name.db" "$name.truth" ||
                fail "$name: not as it is known to be"
}

measure 1 gcc -O2
measure 2 gcc -O1
measure 3 g++ -O3
if command -v clang >/dev/null; then
        measure 4 clang -O2
        measure 5 clang++ -O1
else
        echo "nested_fields.sh: SKIPPED with clang: it is not installed" >&2
fi
