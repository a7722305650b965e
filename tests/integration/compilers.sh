# SPDX-License-Identifier: MIT
# Sourced by tests.

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
