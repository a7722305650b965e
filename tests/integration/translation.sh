#!/bin/sh
# SPDX-License-Identifier: MIT
# Both levels of the simulated TLB: chases whose translations follow from the number of
# their pages.
set -eu
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$SOURCE_DIR/tests/integration/translation.py" \
        "$MEMLAG" "$BINARY_DIR/tests/integration/bench_each"
