#!/bin/sh
# SPDX-License-Identifier: MIT
# run_in.sh DIR SCRIPT: run SCRIPT in an empty directory DIR, without what the user has
# calibrated.
set -eu
rm -rf "$1"
mkdir -p "$1"
cd "$1"
XDG_DATA_HOME=$1/data-home
export XDG_DATA_HOME
exec "$2"
