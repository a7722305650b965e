#!/bin/sh
# SPDX-License-Identifier: MIT
# Debug information that is made to take all time or memory.
set -eu
exec python3 "$SOURCE_DIR/tests/integration/symbolize_hostile.py"
