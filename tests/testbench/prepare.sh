#!/bin/sh
# SPDX-License-Identifier: MIT
# prepare.sh DIRECTORY: fetches Debian's kernel for virtual machines, its headers and
# busybox into DIRECTORY, as packages that are unpacked and not installed, and builds the
# scripted PMU for that kernel. What is there already is used again. Ends with 77 (skip)
# when the packages cannot be had.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
directory=$1
. "$here/../../examples/packages.sh"

skip()
{
        echo "SKIPPED: the hardware sources were NOT tested in a virtual machine: $1" >&2
        exit 77
}

# The packages that PACKAGE depends on, one a line.
depends_of()
{
        apt-cache depends "$1" | sed -n 's/^ *Depends: //p'
}

# The kernel's name changes with each of its updates.
kernel_name()
{
        depends_of linux-image-cloud-amd64 | sed -n 's/^linux-image-//p'
}

download()
{
        kernel=$(kernel_name)
        [ -n "$kernel" ] || return 1
        rm -rf "$directory/packages" "$directory/root"
        mkdir -p "$directory/packages" "$directory/root"
        # shellcheck disable=SC2046 # a list of names
        (cd "$directory/packages" && apt-get -qq -o Acquire::Retries=3 download \
                busybox-static "linux-image-$kernel" "linux-headers-$kernel" \
                $(depends_of "linux-headers-$kernel" |
                        grep -e '^linux-headers-' -e '^linux-kbuild-')) \
                >"$directory/download.log" 2>&1
}

unpack()
{
        for package in "$directory"/packages/*.deb; do
                dpkg -x "$package" "$directory/root"
        done
        rm -rf "$directory/packages" "$directory/root/lib/modules" "$directory/root/usr/lib/modules"
        headers=$directory/root/usr/src/linux-headers-$kernel
        sed -i "s|^include /usr/src/|include $directory/root/usr/src/|" "$headers/Makefile"
        ln -sfn "$headers" "$directory/headers"
        cp "$directory/root/boot/vmlinuz-$kernel" "$directory/vmlinuz"
        echo "$kernel" >"$directory/kernel"
}

# The C compiler is the one that Debian built the kernel with, or this machine's. Type
# information for the kernel (BTF) would need another package, and nobody asks for it.
build_module()
{
        mkdir -p "$directory/module"
        cp -pu "$here"/module/* "$directory/module/"
        compiler=$(sed -n 's/^CC = .*\(gcc-[0-9]*\)$/\1/p' "$directory/headers/.kernelvariables")
        command -v "${compiler:-none}" >/dev/null || compiler=gcc
        make -C "$directory/headers" M="$directory/module" CC="$compiler" \
                CONFIG_DEBUG_INFO_BTF_MODULES= modules \
                >"$directory/module.log" 2>&1 </dev/null || {
                cat "$directory/module.log" >&2
                exit 1
        }
        strip --strip-debug -o "$directory/scripted_pmu.ko" "$directory/module/scripted_pmu.ko"
}

for program in qemu-system-x86_64 perf; do
        command -v $program >/dev/null || skip "$program is not installed"
done
mkdir -p "$directory"
if [ ! -e "$directory/kernel" ]; then
        download || {
                may_become_root && update_package_lists "$directory/update.log" && download
        } || skip "apt-get cannot download Debian's packages of the kernel"
        unpack
fi
for place in bin usr/bin; do # where Debian has it, by version
        [ ! -e "$directory/root/$place/busybox" ] || cp "$directory/root/$place/busybox" "$directory/"
done
build_module
