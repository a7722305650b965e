#!/bin/sh
# SPDX-License-Identifier: MIT
# Threads read arrays in the frames of main and of other threads, while the owner waits or works
# (types/frames.c): the object is the variable, for any reader.
. "$SOURCE_DIR/tests/integration/library.sh"

# measure NAME OBJECTS COMPILER OPTION...: of the samples OBJECTS percent must have the object
measure()
{
        name=$1 objects=$2
        shift 2
        "$@" -g -pthread -o "$name" "$SOURCE_DIR/tests/integration/types/frames.c"
        TRUTH=$name.truth "$MEMLAG" record -o "$name.db" $LOADS --ldlat 1 --period 53 \
                -- "./$name" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
        python3 "$SOURCE_DIR/tests/integration/types/check.py" \
                "$name.db" "$name.truth" --fields 97 --objects "$objects" ||
                fail "$name: not as it is known to be"
        # Most loads of the arrays are another thread's.
        holds "$name.db" 1 "SELECT count(*) > 1000 FROM other_stack_access"
        # Each access has one row, with the stack of the frame's thread.
        holds "$name.db" 0 "SELECT count(*) FROM other_stack_access
                JOIN stack_access USING (sample_id)"
}

measure gcc 95 gcc -O2 -fopenmp
measure gcc_O0 95 gcc -O0 -fopenmp
if has clang; then
        # Later versions give fewer locations of variables: the object is then the whole frame.
        measure clang "$(by_version clang 14 95 35)" clang -O2
fi

# Without the frame (other sources do not tell it) it is the stack as a whole, and no guess.
sqlite3 gcc.db "DELETE FROM other_stack_access; DELETE FROM name_source"
"$MEMLAG" symbolize gcc.db 2>symbolize.err
holds gcc.db '1|0' "SELECT sum(object LIKE 'stack of thread %') > 100,
        sum(object NOT LIKE 'stack of thread %' AND object <> function || '''s stack')
        FROM sample_view WHERE function = 'read_first'"
holds gcc.db 0 "SELECT coalesce(sum(value), 0) - (SELECT count(*) FROM attribution
        JOIN data_object USING (object_id) WHERE name LIKE 'stack of thread %')
        FROM ledger WHERE kind = 'samples in unknown frame'"
