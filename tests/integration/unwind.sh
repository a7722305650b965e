#!/bin/sh
# SPDX-License-Identifier: MIT
# Copied stacks, unwound with libunwind, beside perf script's and beside the calls that the
# programs make.
PYTHONDONTWRITEBYTECODE=1 exec python3 "$SOURCE_DIR/tests/integration/unwind.py"
