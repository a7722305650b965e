#!/bin/sh
# SPDX-License-Identifier: MIT
# Stores and loads of one word (store_forwarding.c): a load of bytes of two stores waits for
# both, across a call too, and has the verdict; no other does.
. "$SOURCE_DIR/tests/integration/library.sh"

source_file="$SOURCE_DIR/tests/integration/store_forwarding.c"
cc -O1 -g "$source_file" -o store_forwarding
"$MEMLAG" record $SIM --no-heap --period 50 -o run.db -- ./store_forwarding 100000 >out 2>&1 ||
        fail "record: $(cat out)"

for mark in waits "waits too"; do
        line=$(grep -n "/\* $mark \*/" "$source_file" | cut -d: -f1)
        [ "$(answer run.db "SELECT verdict FROM line_view WHERE line = $line AND samples > 1000")" \
                = store-forwarding ] || fail "line $line: $(answer run.db "SELECT line, samples, verdict FROM line_view LIMIT 9")"
done
[ "$(answer run.db "SELECT count(*) FROM line_view WHERE verdict = 'store-forwarding'")" = 2 ] ||
        fail "other lines wait for stores, too"
[ "$(answer run.db "SELECT sum(value) BETWEEN 200000 AND 200500 FROM counter JOIN reading
        USING (counter_id) WHERE name = 'ld_blocks.store_forward'")" = 1 ] || fail "the loads are not counted"
