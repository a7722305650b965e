#!/bin/sh
# SPDX-License-Identifier: MIT
# run_in.sh DIR SCRIPT: run SCRIPT in an empty directory DIR.
set -eu
rm -rf "$1"
mkdir -p "$1"
cd "$1"
exec "$2"
