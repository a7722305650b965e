# SPDX-License-Identifier: MIT
# Sourced by quickstart.sh and tests/run.sh: the Debian packages that memlag needs, and
# their installation. One list for both.

build_packages="build-essential cmake pkg-config valgrind libsqlite3-dev libdw-dev libelf-dev libunwind-dev
        libiberty-dev libzydis-dev liblzma-dev libzstd-dev libdeflate-dev libpfm4-dev libjansson-dev libhwloc-dev sqlite3 lowdown
        libjs-d3 libjs-jquery libjs-jquery-datatables file"
test_packages="libcmocka-dev libc6-dbg elfutils man-db python3 gzip xz-utils dwz libdebuginfod1
        linux-perf qemu-system-x86 clang lld llvm gfortran libc++1 libc++abi1 zsh fish
        openmpi-bin libopenmpi-dev lintian musl-tools libjemalloc-dev
        chromium chromium-driver python3-selenium golang-go"

# Prints those of the packages PACKAGE... that are not installed.
missing_packages()
{
        for package; do
                status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || true
                [ "$status" = installed ] || printf '%s ' "$package"
        done
}

# Runs apt-get ARGUMENT... as root, without questions. It removes nothing, and waits for
# the package database, which a machine that has just started is often busy with.
apt_get()
{
        set -- env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
                apt-get -q -y -o APT::Get::Remove=false -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
        if [ "$(id -u)" -ne 0 ]; then
                set -- sudo "$@"
        fi
        "$@" </dev/null
}

# apt-get update, again while another process holds the lock on the package lists: for
# that lock apt has no waiting of its own.
update_package_lists()
{
        log=$1
        for _ in $(seq 60); do
                apt_get update >"$log" 2>&1 && return 0
                grep -q 'lists/lock' "$log" || return 1
                sleep 5
        done
        return 1
}

# Says in one place what to do by hand: cannot_install REASON PACKAGES.
cannot_install()
{
        echo "$1. Install the packages as root, then run this again:" >&2
        echo "    apt-get install $2" >&2
        return 1
}

may_become_root()
{
        [ "$(id -u)" -eq 0 ] && return 0
        command -v sudo >/dev/null || return 1
        sudo -n true 2>/dev/null && return 0
        [ -t 0 ] && [ -t 2 ] && sudo -v
}

# install_packages LOG PACKAGE...: installs what is missing and prints which. What
# apt-get says goes to the file LOG, which is shown when it fails.
install_packages()
{
        log=$1
        shift
        if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
                echo "This is not a Debian system: it has no dpkg-query and apt-get. Install what" \
                        "these Debian packages hold, and build with cmake (README.md):" >&2
                echo "    $*" >&2
                return 1
        fi
        missing=$(missing_packages "$@")
        [ -n "$missing" ] || return 0
        echo "Installing $missing"
        if ! may_become_root; then
                cannot_install "Not root, and sudo does not work here" "$missing"
                return 1
        fi
        # The lists may be old or absent, so look for new ones first. Failure to reach one
        # of several sources need not matter; whether the packages come does.
        update_package_lists "$log" || true
        # shellcheck disable=SC2086 # a list of names
        if ! apt_get install --no-install-recommends $missing >>"$log" 2>&1; then
                tail -n 30 "$log" >&2
                cannot_install "apt-get failed; its last words are above (is there a network?)" \
                        "$missing"
                return 1
        fi
}

# unpack_libcxx LOG DIRECTORY: the headers of libc++, for tests. Their package cannot be
# installed: it needs LLVM's unwinder, which conflicts with libunwind-dev.
unpack_libcxx()
{
        [ ! -e "$2/usr/include/c++/v1/vector" ] || return 0
        mkdir -p "$2"
        package=$(apt-cache depends libc++-dev | sed -n 's/^ *Depends: \(libc++-.*\)/\1/p')
        (
                cd "$2"
                apt-get -q download "$package" && dpkg-deb -x "$package"_*.deb . && rm "$package"_*.deb
        ) >>"$1" 2>&1
}
