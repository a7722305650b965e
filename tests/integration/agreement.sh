#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions, files, lines and inlined calls at random addresses, compared with eu-addr2line and
# binutils' addr2line by tests/bench/agreement.py (doc/experiments/agreement.md has its figures of
# large programs). The code is glibc, and a C++ program by gcc and clang, also split, and optimised
# at link time.
. "$SOURCE_DIR/tests/integration/library.sh"

has eu-addr2line || exit 77
source=$SOURCE_DIR/tests/integration/types/program.cc

# build NAME COMPILER OPTION...
build()
{
        name=$1
        shift
        "$@" -O2 -pthread -o "$name" "$source"
}

# agree OPTION... FILE[=DEBUG-FILE]...
agree()
{
        python3 "$SOURCE_DIR/tests/bench/agreement.py" "$MEMLAG" \
                --count 500 --limit 99.5 --examples 3 "$@" >>agreement.txt || {
                cat agreement.txt >&2
                exit 1
        }
}

# same_code ONE OTHER
same_code()
{
        for program; do
                objcopy -O binary -j .text "$program" "$program.text"
        done
        cmp "$1.text" "$2.text"
}

libc=$(ldd "$MEMLAG" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
agree "$libc"

build gcc g++ -g
agree gcc

# Split debug information, with types in separate sections. The references read the same code with
# whole debug information.
build gcc-split g++ -g -gsplit-dwarf -fdebug-types-section
same_code gcc gcc-split
agree gcc-split=gcc

# At most places eu-addr2line finds no inlined calls in these.
build gcc-lto g++ -g -flto=1
agree --agreeing 15 gcc-lto

has clang++ || exit 0

# The references do not read all of clang's DWARF 5. They get the same code with DWARF 4.
for link in "" -flto; do
        # shellcheck disable=SC2086 # no option, or one
        {
                build "clang5$link" clang++ -gdwarf-5 -gdwarf-aranges $link
                build "clang4$link" clang++ -gdwarf-4 -gdwarf-aranges $link
        }
        same_code "clang5$link" "clang4$link"
done
agree "clang4" "clang5=clang4"
build clang5-split clang++ -gdwarf-5 -gdwarf-aranges -gsplit-dwarf -fdebug-types-section
same_code clang4 clang5-split
agree clang5-split=clang4
agree --agreeing 10 "clang5-flto=clang4-flto"
