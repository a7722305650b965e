#!/bin/sh
# SPDX-License-Identifier: MIT
# Fields of types with variants, as Rust's enums are, from debug information written by hand.
set -eu
exec python3 "$SOURCE_DIR/tests/integration/variants.py"
