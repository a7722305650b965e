#!/bin/sh
# SPDX-License-Identifier: MIT
# Arrays that lie behind others, or behind a header, in one block (types/behind.c). A loop
# over one of them is told in each copy of its loads that the compiler makes; what the
# header's pointer leads to behind the header is no header.
set -eu

fail()
{
        echo "arrays_behind.sh: $*" >&2
        exit 1
}

# check COMPILER OPTION PERCENT: none is wrong, PERCENT are right, and all that loops over
# items read.
check()
{
        name=behind_$1$2
        "$1" -g "$2" -o "$name" "$SOURCE_DIR/tests/integration/types/behind.c"
        TRUTH=$name.truth "$MEMLAG" record -o "$name.db" --source sim --ldlat 1 --period 53 \
                -- "./$name" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
        PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE_DIR/tests/integration/types/check.py" \
                "$name.db" "$name.truth" --fields "$3" || fail "$name: not as it is known to be"
        open=$(sqlite3 -readonly "$name.db" "SELECT count(*) FROM sample_view
                WHERE function IN ('weigh_all', 'add_targets', 'add_units', 'xor_limbs') AND field IS NULL
                AND object_kind = 'heap'")
        [ "$open" -eq 0 ] || fail "$name: of loops over items $open samples have no field"
}

check gcc -O2 50
check gcc -O3 50
if ! command -v clang >/dev/null; then
        echo "arrays_behind.sh: SKIPPED: clang is not installed" >&2
        exit 77
fi
check clang -O2 50
