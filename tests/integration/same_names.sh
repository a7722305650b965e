#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of one name in one program are told apart, everywhere in the same way.
set -eu
exec python3 "$SOURCE_DIR/tests/integration/same_names.py"
