#!/bin/sh
# SPDX-License-Identifier: MIT
# Locked additions of one thread (locked.c) have the verdict, and nearly all of their time.
. "$SOURCE_DIR/tests/integration/library.sh"

source_file="$SOURCE_DIR/tests/integration/locked.c"
cc -O1 -g "$source_file" -o locked
record run $SIM --no-heap -- ./locked 200000

line=$(grep -n "/\* locked \*/" "$source_file" | cut -d: -f1)
holds run.db "$line" "SELECT group_concat(line) FROM line_view WHERE verdict = 'locked'"
# skylake-sp: 18 cycles for each, at least 5 for an addition by the store buffer.
holds run.db 1 "SELECT stalled_ratio BETWEEN 0.6 AND 0.85 FROM line_view WHERE line = $line"
