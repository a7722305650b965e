#!/bin/sh
# SPDX-License-Identifier: MIT
# Names of code without debug information and of the kernel's, against nm and addr2line.
set -eu
exec python3 "$SOURCE_DIR/tests/integration/symbolize_names.py"
