#!/bin/bash
# SPDX-License-Identifier: MIT
# quickstart.sh and run.sh on machines with missing packages. Stand-ins for dpkg-query, apt-get,
# sudo and id record their calls.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

fail()
{
        echo "packages: $*" >&2
        cat calls output >&2 || true
        exit 1
}

# stand_in NAME BODY
stand_in()
{
        printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
        chmod +x "bin/$1"
}

# A machine that has only these programs, and the packages "have" and "other".
machine()
{
        rm -rf bin calls output
        mkdir bin
        : >calls
        for program in env grep seq sh sleep tail; do
                ln -s "$(command -v $program)" bin/
        done
        # shellcheck disable=SC2016 # the stand-in's own variables
        stand_in dpkg-query 'case $3 in have|other) echo installed;; *) exit 1;; esac'
        # shellcheck disable=SC2016
        stand_in apt-get 'echo "apt-get $*" >>calls; echo "noise of apt"'
        stand_in id 'echo 0'
}

# Runs install_packages there; the status is in $status, the output in output.
try_install()
{
        status=0
        PATH="$PWD/bin" sh -c '. "$1"; shift; install_packages apt.log "$@"' - \
                "$SOURCE_DIR/examples/packages.sh" "$@" >output 2>&1 </dev/null || status=$?
}

machine
try_install have other
[ "$status" = 0 ] && [ ! -s calls ] && [ ! -s output ] || fail "nothing was missing"

machine
try_install have lack other need
[ "$status" = 0 ] || fail "root, and apt-get works: status $status"
grep -q ' install --no-install-recommends lack need$' calls || fail "wrong packages asked for"
grep -q 'DPkg::Lock::Timeout=[0-9]' calls || fail "it does not wait for the package database"
grep -q noise output && fail "apt-get's noise is shown"
grep -q 'lack need' output || fail "it does not say what it installs"

machine
stand_in id 'echo 1000'
# shellcheck disable=SC2016
stand_in sudo 'echo "sudo $*" >>calls; [ "$1" = -n ] || exec "$@"'
try_install lack
[ "$status" = 0 ] || fail "sudo works: status $status"
grep -q '^sudo .*apt-get.* install .*lack$' calls || fail "apt-get was not run through sudo"

machine
stand_in id 'echo 1000'
try_install lack need
[ "$status" != 0 ] || fail "neither root nor sudo, but status 0"
grep -q 'apt-get install lack need' output || fail "the command to type is not shown"

machine
stand_in id 'echo 1000'
stand_in sudo 'exit 1'
try_install lack
[ "$status" != 0 ] || fail "sudo refuses, but status 0"
grep -q 'apt-get install lack' output || fail "the command to type is not shown"
grep -q 'install' calls && fail "apt-get was run without being root"

machine
stand_in apt-get 'echo "E: Temporary failure resolving deb.debian.org"; exit 100'
try_install lack
[ "$status" != 0 ] || fail "apt-get failed, but status 0"
grep -q 'Temporary failure resolving' output || fail "apt-get's error is not shown"
grep -q 'apt-get install lack' output || fail "the command to type is not shown"

machine
rm bin/dpkg-query
try_install have lack
[ "$status" != 0 ] || fail "no Debian, but status 0"
grep -q 'not a Debian system' output || fail "it does not say that this is no Debian"
