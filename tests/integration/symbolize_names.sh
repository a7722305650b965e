#!/bin/sh
# SPDX-License-Identifier: MIT
# Names against binutils' addr2line and nm.
set -eu
exec python3 "$SOURCE_DIR/tests/integration/symbolize_names.py"
