#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings of perf, from other machines and made here, against perf's own reading.
set -eu
exec python3 "$SOURCE_DIR/tests/integration/import.py"
