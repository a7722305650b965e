#!/bin/bash
# SPDX-License-Identifier: MIT
# Usage: tests/distro.sh SUITE COMMAND [ARGUMENT...]
# Runs COMMAND in a bare Debian SUITE (bookworm, trixie), in a clean copy of this checkout:
# the tracked files as they are now, below /root. It needs root, and apt sources that
# hold a Debian archive. The bare system and the packages that are fetched for it stay in
# ${XDG_CACHE_HOME:-~/.cache}/memlag-distro for the next run; the rest goes when COMMAND
# ends. The exit status is that of COMMAND.
#
#     tests/distro.sh trixie examples/quickstart.sh
#     tests/distro.sh bookworm tests/run.sh
#     tests/distro.sh trixie bash
set -eu -o pipefail

root=$(cd "$(dirname "$0")/.." && pwd)

die()
{
        echo "tests/distro.sh: $*" >&2
        exit 1
}

# The Debian archive among the host's apt sources, for all that is fetched.
mirror()
{
        # shellcheck disable=SC2016 # apt's own variable
        apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' \
                'Component: main' | head -n 1
}

# bare_system DIRECTORY ARCHIVES: debootstrap's smallest system of $suite
bare_system()
{
        local archive
        archive=$(mirror)
        [ -n "$archive" ] || die "apt's sources hold no archive with the label Debian (apt-get update?)"
        echo "== Making a bare $suite in $1"
        rm -rf "$1.new"
        if ! debootstrap --variant=minbase --cache-dir="$2" "$suite" "$1.new" "$archive" \
                >"$1.log" 2>&1 </dev/null; then
                tail -n 20 "$1.log" >&2
                die "debootstrap failed; the whole log is $1.log"
        fi
        mv "$1.new" "$1"
}

# How the host reaches its archive: name service, proxies and certificates.
copy_network_settings()
{
        local file
        apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' \
                >"$1/etc/apt/apt.conf.d/90host" || true
        for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
                [ -e "$file" ] || continue
                mkdir -p "$1${file%/*}"
                cp -L --remove-destination "$file" "$1$file"
        done
        [ ! -d /usr/local/share/ca-certificates ] ||
                cp -a /usr/local/share/ca-certificates "$1/usr/local/share/"
}

# What git tracks, as it is in the work tree.
copy_checkout()
{
        local commit
        commit=$(git -C "$root" stash create)
        mkdir "$1"
        git -C "$root" archive "${commit:-HEAD}" | tar -C "$1" -xf -
}

# Prints the variables that programs in the bare system get, NAME=VALUE each.
environment()
{
        echo HOME=/root
        echo PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
        echo LANG=C.UTF-8
        echo "TERM=${TERM:-dumb}"
        env | grep -E '^(http|https|ftp|no)_proxy=' || true
        env | grep -E '^(HTTP|HTTPS|FTP|NO)_PROXY=' || true
}

# Runs COMMAND... in the system in DIRECTORY: inside DIRECTORY ARCHIVES COMMAND...
# All mounts and processes are in namespaces of this process and end with it.
inside()
{
        local system=$1 archives=$2 variables
        shift 2
        mount --bind "$system" "$system" # unshare(1) wants a root that is a mount
        mount -t proc proc "$system/proc"
        mount -t sysfs sysfs "$system/sys"
        mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$system/dev/pts"
        mkdir -p "$system/dev/shm"
        mount -t tmpfs -o mode=1777 tmpfs "$system/dev/shm"
        mount --bind "$archives" "$system/var/cache/apt/archives"
        mapfile -t variables < <(environment)
        # The shell inside stays, as the first process, which is unlike any other.
        # shellcheck disable=SC2016 # for that shell
        exec chroot "$system" env -i "${variables[@]}" \
                sh -c 'cd /root/memlag && "$@"; exit $?' sh "$@"
}

if [ "${1-}" = --inside ]; then
        shift
        inside "$@"
fi

[ $# -ge 2 ] || die "Usage: tests/distro.sh SUITE COMMAND [ARGUMENT...]"
suite=$1
shift
[ "$(id -u)" -eq 0 ] || die "only root can make a bare system; run it with sudo"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/memlag-distro/$suite
mkdir -p "$cache/archives/partial"
. "$root/examples/packages.sh"
install_packages "$cache/packages.log" debootstrap debian-archive-keyring git

# One run of a suite at a time, to which the copy of the bare system belongs.
exec 9>"$cache/lock"
flock -n 9 || { echo "== Waiting for another run of $suite"; flock 9; }
rm -rf "$cache/run"
[ -d "$cache/bare" ] || bare_system "$cache/bare" "$cache/archives"
child=
trap '[ -z "$child" ] || { kill -KILL $child; wait $child; } 2>/dev/null; rm -rf "$cache/run"' EXIT
trap 'exit 1' HUP INT TERM
cp -a "$cache/bare" "$cache/run"
copy_network_settings "$cache/run"
copy_checkout "$cache/run/root/memlag"
echo "== In a bare $suite: $*"
unshare --mount --propagation private --pid --fork --kill-child \
        "$0" --inside "$cache/run" "$cache/archives" "$@" <&0 &
child=$!
status=0
wait $child || status=$?
child=
exit $status
