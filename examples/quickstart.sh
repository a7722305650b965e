#!/bin/sh
# SPDX-License-Identifier: MIT
# From a fresh Debian 12 or 13 machine to a first report: installs the packages that are
# missing, builds memlag in build/, records the contention example and prints what memlag
# found. May be run again.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build
log=$build/quickstart.log
database=$build/contention.db

# Runs COMMAND...; its words go to the log, and are shown when it fails.
quietly()
{
        "$@" >"$log" 2>&1 </dev/null && return
        tail -n 40 "$log" >&2
        echo "quickstart: '$*' failed; the whole log is $log" >&2
        exit 1
}

# What stands between the user and a shell command: a path that may hold spaces.
quoted()
{
        printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

mkdir -p "$build"
. "$root/examples/packages.sh"
# shellcheck disable=SC2086 # a list of names
install_packages "$log" $build_packages

echo "Building memlag in $build"
quietly cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DMEMLAG_TESTS=OFF
quietly cmake --build "$build" --parallel "$(nproc)"

memlag=$build/bin/memlag
echo "Recording examples/contention: 24 threads that add up one field of 64-byte records,"
echo "and one thread that works in its cache (source: $root/examples/contention/contention.c)"
echo
"$memlag" record --source sim --sim-cpu skylake-sp --sim-prefetch off --interval 1 --force -o "$database" -- \
        "$build/examples/contention" </dev/null
echo
"$memlag" report --by object --no-source --top 3 "$database"

cat <<END

The samples are in $database. Some things to try:
    $(quoted "$memlag") report --by interval --top 0 $(quoted "$database")
    $(quoted "$memlag") query --list
    $(quoted "$memlag") query -i $(quoted "$database") \\
        "SELECT level, count(*), avg(latency_cycles) FROM sample_view GROUP BY level"
END
