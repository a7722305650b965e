#!/bin/sh
# SPDX-License-Identifier: MIT
# The peak memory of an import of some samples beside one of many more.
set -eu
exec python3 "$SOURCE_DIR/tests/integration/import_memory.py"
