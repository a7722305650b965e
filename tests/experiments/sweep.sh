#!/bin/sh
# SPDX-License-Identifier: MIT
# sweep.sh MEMLAG: the full experiments, with CSV and pictures in doc/experiments.
# Takes half an hour or more; needs gnuplot (Debian: gnuplot-nox), and a Release build: with
# debug information lines of kernels are named after the intrinsics in them.
set -eu
memlag=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
there=$here/../../doc/experiments
command -v gnuplot >/dev/null || { echo "sweep.sh: gnuplot is missing; install gnuplot-nox" >&2; exit 1; }
export PYTHONDONTWRITEBYTECODE=1
for experiment in memread triad blas regions chases verdicts layouts; do
        # Statements that do not hold are in the CSV, and end only this experiment.
        python3 "$here/$experiment.py" "$memlag" --full "$there" || true
done
cd "$there"
for picture in memread regions; do
        gnuplot "$here/$picture.gp"
done
