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

period=7

# record_and_check NAME PERCENT: of the samples so many must have the field.
record_and_check()
{
        rm -f "$1.db"
        "$MEMLAG" record -o "$1.db" $LOADS --ldlat 1 --period "$period" -- "./$1" \
                >"$1.out" 2>&1 ||
                fail "$1: $(cat "$1.out")"
        python3 "$SOURCE_DIR/tests/integration/nested/check.py" "$1.db" "$1.truth" "$2" ||
                fail "$1: not as it is known to be"
}

# build SEED HEADER COMPILER OPTION...: the program NAME, and what is true of it
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
if command -v clang >/dev/null; then
        measure 5 clang++ -O1
else
        echo "nested_fields.sh: SKIPPED with clang: it is not installed" >&2
fi

# Where something lies before the items of a block, addresses tell less of indexes, and what an
# index seems to lead to agrees with some of them by chance: then nothing is to be said.
build 81 24 gcc -O2
record_and_check "$name" 18

# Unions that are counted with, copied, handed on and of which bits are read, in all ways that
# nested/unions.py knows; most are the same for all members.
for options in "gcc -O2 12" "clang++ -O2 16"; do
        seed=${options##* } options=${options% *}
        compiler=${options%% *} language=c
        command -v "$compiler" >/dev/null || continue
        [ "$compiler" = "${compiler%++}" ] || language=c++
        name=unions_$seed
        python3 "$SOURCE_DIR/tests/integration/nested/unions.py" "$seed" 40 "$name.c" "$name.truth"
        # shellcheck disable=SC2086 # the compiler and its option
        $options -g -w -x "$language" -o "$name" "$name.c"
        record_and_check "$name" 5
done

# Members of all kinds: packed structures, vectors, bit-fields of enumerations, in unions without
# a name, at the end without a length.
for options in "gcc -O2 36" "clang -O2 -march=x86-64-v3 69"; do
        seed=${options##* } options=${options% *}
        compiler=${options%% *} language=c name=kinds_$seed
        command -v "$compiler" >/dev/null || continue
        [ "$compiler" = "${compiler%++}" ] || language=c++
        python3 "$SOURCE_DIR/tests/integration/nested/kinds.py" "$seed" 40 "$name.c" "$name.truth"
        # shellcheck disable=SC2086 # the compiler and its option
        $options -g -w -x "$language" -o "$name" "$name.c" 2>"$name.out" ||
                fail "$name: $(cat "$name.out")"
        record_and_check "$name" 45
done

# Of a loop that is rolled out, a load of which nothing is used has few samples, and so has one
# before a loop: here each load counts. The programs end with the type that was taken for
# another.
period=1
for program in "kinds clang -O2 1005 11" "kinds g++ -O2 1026 24" "unions g++ -O1 2002 16"; do
        types=${program##* } program=${program% *}
        seed=${program##* } program=${program% *}
        kind=${program%% *} options=${program#* }
        compiler=${options%% *} language=c name=${kind}_$seed
        command -v "$compiler" >/dev/null || continue
        [ "$compiler" = "${compiler%++}" ] || language=c++
        python3 "$SOURCE_DIR/tests/integration/nested/$kind.py" "$seed" "$types" "$name.c" \
                "$name.truth"
        # shellcheck disable=SC2086 # the compiler and its options
        $options -g -w -x "$language" -o "$name" "$name.c"
        case $kind in
        kinds) record_and_check "$name" 45 ;;
        unions) record_and_check "$name" 5 ;;
        esac
done
period=7

# Members of a union in one place: integers that clang converts in vector registers are moved
# there as numbers of floating point are.
cat >union.c <<'END'
#include <stdint.h>
#include <stdlib.h>
enum { CELLS = 4096, READS = 20000 };
struct cell { long tag; union { double real; uint64_t count; float half; } as; };
static volatile double result;
#define READ(name, member, what) \
        static __attribute__((noinline)) void name(const struct cell *cells) \
        { \
                for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3) { \
                        double member = cells[at % CELLS].as.member; \
                        what; \
                } \
        }
READ(convert_count, count, result = result + count)
READ(add_real, real, result = result + real)
READ(copy_real, real, result = real)
READ(divide_half, half, result = 1 / half)
int main(void)
{
        struct cell *cells = calloc(CELLS, sizeof(*cells));
        convert_count(cells);
        add_real(cells);
        divide_half(cells);
        copy_real(cells);
        return 0;
}
END
printf '%s\tstruct cell\tas.%s\n' convert_count count add_real real copy_real real \
        divide_half half >union_gcc.truth
cp union_gcc.truth union_clang.truth
for compiler in gcc clang; do
        command -v "$compiler" >/dev/null || continue
        "$compiler" -g -O2 -o "union_$compiler" union.c
        record_and_check "union_$compiler" 40
done
