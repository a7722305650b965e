#!/bin/sh
# SPDX-License-Identifier: MIT
# Debug files from a server that delivers, lies, breaks off or says nothing.
set -eu
exec python3 "$SOURCE_DIR/tests/integration/debuginfod.py"
