#!/bin/sh
# SPDX-License-Identifier: MIT
# run_in.sh DIR SCRIPT: run SCRIPT in an empty directory DIR, without what the user has
# calibrated. $SIM has record's options for a simulated CPU that is the same on every
# machine.
set -eu
rm -rf "$1"
mkdir -p "$1"
cd "$1"
XDG_DATA_HOME=$1/data-home
SIM="--source sim --sim-cpu skylake-sp --sim-prefetch off"
export XDG_DATA_HOME SIM
exec "$2"
