#!/bin/sh
# SPDX-License-Identifier: MIT
# A calibration becomes a simulated CPU on which the kernels find what it tells.
set -eu
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$SOURCE_DIR/tests/integration/host_preset.py" \
        "$MEMLAG" "$BINARY_DIR/tests/integration/host_preset" "$BINARY_DIR/tests/integration/bench_each"
