#!/bin/sh
# SPDX-License-Identifier: MIT
# Pairs of programs of which it is known how much slower one is (known_pairs.py).
set -eu
cc -O1 -g -pthread "$SOURCE_DIR/tests/integration/known_pairs.c" -o known_pairs
exec python3 "$SOURCE_DIR/tests/integration/known_pairs.py" "$MEMLAG" "$PWD/known_pairs"
