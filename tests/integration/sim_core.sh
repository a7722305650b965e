#!/bin/sh
# SPDX-License-Identifier: MIT
# The simulated core: kernels whose time and stalls follow from their instructions and
# the preset's figures.
set -eu
"$CC" -O2 -o sim_core "$SOURCE_DIR/tests/integration/sim_core.c"
exec /usr/bin/python3 "$SOURCE_DIR/tests/integration/sim_core.py" "$MEMLAG" ./sim_core
