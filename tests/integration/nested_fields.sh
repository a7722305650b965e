#!/bin/sh
# SPDX-License-Identifier: MIT
# Fields of structures with nested arrays, unions and bit-fields, in programs that
# nested/generate.py makes. Each function reads one field of blocks without a type. All reported
# fields must be right.
. "$SOURCE_DIR/tests/integration/library.sh"

# record_and_check NAME PERCENT: of the samples so many must have the field.
record_and_check()
{
        rm -f "$1.db"
        record "$1" $LOADS --ldlat 1 --period 7 -- "./$1"
        python3 "$SOURCE_DIR/tests/integration/nested/check.py" "$1.db" "$1.truth" "$2" ||
                fail "$1: not as it is known to be"
}

# build SEED HEADER COMPILER OPTION...: makes the program NAME, and the truth about it
build()
{
        seed=$1 header=$2 compiler=$3
        shift 3
        name=nested_${seed}_${header}_$compiler
        python3 "$SOURCE_DIR/tests/integration/nested/generate.py" "$seed" 24 "$name.c" \
                "$name.truth" "$header"
        case $compiler in
        *++) "$compiler" -g -x c++ "$@" -o "$name" "$name.c" ;;
        *) "$compiler" -g "$@" -o "$name" "$name.c" ;;
        esac
}

# measure SEED COMPILER OPTION...
measure()
{
        seed=$1
        shift
        build "$seed" 0 "$@"
        record_and_check "$name" 40
}

measure 1 gcc -O2
if has clang; then
        measure 5 clang++ -O1
fi

# If a header precedes the items of a block, addresses are weaker evidence of indexes, and some
# agree with a wrong index by chance. The field must then be unresolved.
build 81 24 gcc -O2
record_and_check "$name" 18
