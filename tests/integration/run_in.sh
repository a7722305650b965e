#!/bin/sh
# SPDX-License-Identifier: MIT
# run_in.sh DIR SCRIPT: run SCRIPT, of the shell or of Python, in an empty directory DIR, without
# the user's calibration. $SIM has record's options for a simulated CPU that is the same on every
# machine, and $LOADS the options for tests of loads' targets.
set -eu
rm -rf "$1"
mkdir -p "$1"
cd "$1"
XDG_DATA_HOME=$1/data-home
SIM="--source sim --sim-cpu skylake-sp --sim-prefetch off"
LOADS="$SIM --loads-only"
PYTHONDONTWRITEBYTECODE=1 # scripts import each other, and the sources may be read-only
export XDG_DATA_HOME SIM LOADS PYTHONDONTWRITEBYTECODE
case $2 in
*.py) exec python3 "$2" ;;
*) exec "$2" ;;
esac
