#!/bin/sh
# SPDX-License-Identifier: MIT
# Stores and loads of one word (store_forwarding.c): a load of bytes of two stores waits for
# both, across a call too, and has the verdict; no other does.
. "$SOURCE_DIR/tests/integration/library.sh"

source_file="$SOURCE_DIR/tests/integration/store_forwarding.c"
cc -O1 -g "$source_file" -o store_forwarding
record run $SIM --no-heap --period 50 -- ./store_forwarding 100000

for mark in waits "waits too"; do
        line=$(grep -n "/\* $mark \*/" "$source_file" | cut -d: -f1)
        holds run.db store-forwarding "SELECT verdict FROM line_view WHERE line = $line AND samples > 1000"
done
holds run.db 2 "SELECT count(*) FROM line_view WHERE verdict = 'store-forwarding'"
holds run.db 1 "SELECT sum(value) BETWEEN 200000 AND 200500 FROM counter JOIN reading
        USING (counter_id) WHERE name = 'ld_blocks.store_forward'"
