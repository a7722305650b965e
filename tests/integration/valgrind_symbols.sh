#!/bin/bash
# SPDX-License-Identifier: MIT
# profiler/simpmu/compat names every symbol of Valgrind that the simulated PMU uses beyond the tool
# interface. A Valgrind without one of them ends the configuration.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

compat=$SOURCE_DIR/profiler/simpmu/compat
tried=$(sed -n 's/^set(simpmu_valgrind_tried "\(.*\)")$/\1/p' "$compat/symbols.cmake")
[ -n "$tried" ] || fail "no versions in symbols.cmake"

# ---- each file opens with the versions ----
for file in "$compat"/{,replaced/}*.[ch]; do
        [ "$(sed -n 2p "$file")" = "/* Tried with Valgrind $tried." ] ||
                fail "$file does not open with: Tried with Valgrind $tried."
done

# ---- nothing else is used ----
# The symbols that the tool's objects take from Valgrind's archives, and the permitted ones.
find "$BINARY_DIR/profiler/simpmu/CMakeFiles/memlag_simpmu_tool.dir" -name '*.o' -not -path '*/model/*' \
        -exec nm -g {} + |
        sed -En 's/.* [A-Z] (__real_|__wrap_)?//p' | sort -u >by-tool
nm -g --defined-only "$VALGRIND_CORE" "$VALGRIND_VEX" 2>nm.log | sed -n 's/.* [A-Z] //p' | sort -u |
        comm -12 - by-tool >used
grep -q vgPlain_cl_exec_fd used || fail "the tool's objects were not read"
cat "$VALGRIND_INCLUDE"/{pub_tool_,libvex}*.h | sed 's/VG_( *\([a-z0-9_A-Z]*\) *)/vgPlain_\1/g' |
        grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u >declared
sed -n 's/^  \([A-Za-z][A-Za-z0-9_]*\))*$/\1/p' "$compat/symbols.cmake" | sort -u >named
comm -23 used declared | comm -23 - named >unnamed
[ ! -s unnamed ] || fail "used, and in no header for tools nor in symbols.cmake: $(cat unnamed)"
comm -13 used named >unused
[ ! -s unused ] || fail "in symbols.cmake, and not used: $(cat unused)"

# ---- an archive without a symbol ----
# without SYMBOL: configures with a Valgrind that has it under another name.
without()
{
        local symbol=$1 message="Valgrind [0-9.]* does not have $1 .*known to work: Valgrind $tried"
        objcopy --redefine-sym "$symbol=another_name" "$VALGRIND_CORE" core.a
        rm -rf configured
        if cmake -S "$SOURCE_DIR" -B configured -DMEMLAG_TESTS=OFF -DVALGRIND_coregrind_ARCHIVE="$PWD/core.a" \
                >out 2>&1; then
                fail "configured without $symbol"
        fi
        grep -q "^ *$message$" out || fail "without $symbol: $(cat out)"
}
without vgSysWrap_generic_sys_brk_before # of those that the linker wraps
without vgPlain_cl_exec_fd               # of those that compat declares
