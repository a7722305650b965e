#!/bin/bash
# SPDX-License-Identifier: MIT
# An installation as a packager makes it: every part is in its place, also under DESTDIR. The
# installed program records from any directory with an empty environment, also after the whole
# prefix has moved.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

# A program whose one line misses the caches, built here: examples are not installed.
"$CC" -O2 -g -o walk "$SOURCE_DIR/examples/chase/chase.c"

# Records and reports with the program in prefix $1, from an empty directory.
try()
{
        local prefix=$1 where
        where=$(mktemp -d "$PWD/elsewhere.XXXXXX")
        (
                cd "$where"
                env -i "$prefix/bin/memlag" record -o walk.db -- "$OLDPWD/walk" 200000 200000 \
                        >out 2>err || { cat err >&2; fail "record in $prefix: status $?"; }
                env -i "$prefix/bin/memlag" query -i walk.db --format csv \
                        "SELECT count(*) > 0 FROM object_view WHERE object_kind = 'heap'" |
                        grep -q '^1' || fail "no heap objects in $prefix"
                grep -q '^value ' out || fail "the target's output is missing: $(cat out)"
                env -i "$prefix/bin/memlag" report -i walk.db --by line >report ||
                        fail "report in $prefix: status $?"
                grep -q 'chase\.c' report || fail "no source line in: $(cat report)"
                env -i "$prefix/bin/memlag" query -i walk.db --format csv \
                        "SELECT count(*) > 0 FROM sample_view" | grep -q '^1' ||
                        fail "no samples in $prefix"
        )
}

# Checks that prefix $1 has every part of an installation, and nothing is outside of it.
check_files()
{
        local prefix=$1 path
        for path in bin/memlag libexec/memlag share/memlag share/man/man1/memlag.1 \
                share/man/man1/memlag-record.1 share/man/man1/memlag-report.1 share/man/man1/memlag-annotate.1 \
                share/man/man1/memlag-query.1 share/doc/memlag/examples/contention/contention.c \
                share/doc/memlag/examples/arguments.h share/bash-completion/completions/memlag \
                share/zsh/site-functions/_memlag share/fish/vendor_completions.d/memlag.fish; do
                [ -e "$prefix/$path" ] || fail "$path is missing in $prefix"
        done
        [ -x "$prefix/bin/memlag" ] || fail "bin/memlag is not executable"
        find "$prefix/libexec/memlag" -name '*-amd64-linux' -perm -u+x | grep -q . ||
                fail "no Valgrind tool in libexec/memlag"
        find "$prefix/libexec/memlag" -name '*.so' | grep -q . || fail "no tracker in libexec/memlag"
        find "$prefix/share/memlag" -name '*.sql' | grep -q . || fail "no SQL files in share/memlag"
        find "$prefix/share/memlag" -name 'skylake-sp*' | grep -q . ||
                fail "no presets in share/memlag"
}

prefix=$PWD/prefix
cmake --install "$BINARY_DIR" --prefix "$prefix" >install.log
check_files "$prefix"
# Nothing may be named for the place where it was built, but by what tells a debugger.
cp -r "$prefix" stripped
find stripped \( -path '*/bin/*' -o -path '*/libexec/*' \) -type f -exec strip --strip-debug {} + \
        2>/dev/null || true # some are no programs
if grep -rlF "$BINARY_DIR" stripped >named; then
        fail "the build directory's name is in $(cat named)"
fi
try "$prefix"

# ---- help, by either name ----
for command in record import report annotate query symbolize analyze doctor bench calibrate validate; do
        "$prefix/bin/memlag" help "$command" >by-name.txt && "$prefix/bin/memlag" "$command" --help >by-option.txt &&
                diff by-name.txt by-option.txt || fail "memlag help $command"
done
"$prefix/bin/memlag" help | grep -q '^  record ' || fail "memlag help"

# LD_PRELOAD cannot say such a name.
mv "$prefix" "$PWD/moved to: here"
try "$PWD/moved to: here"
mv "$PWD/moved to: here" "$PWD/moved"

# A packager's staging directory: the prefix is what CMake was configured with.
DESTDIR="$PWD/staging" cmake --install "$BINARY_DIR" >install.log
default=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$BINARY_DIR/CMakeCache.txt")
check_files "$PWD/staging$default"
try "$PWD/staging$default"

man -l "$PWD/moved/share/man/man1/memlag.1" >page 2>/dev/null </dev/null
grep -q 'memlag' page || fail "memlag.1 is not a man page"

# ---- a machine without test packages builds memlag and no tests ----
mkdir pkgconfig
pkg-config --variable pc_path pkg-config | tr : '\n' | while read -r directory; do
        find "$directory" -name '*.pc' ! -name cmocka.pc -exec ln -sf -t pkgconfig {} + 2>/dev/null || true
done
PKG_CONFIG_LIBDIR=$PWD/pkgconfig cmake -S "$SOURCE_DIR" -B configured >configure.log 2>&1 ||
        fail "without cmocka: $(tail -n 5 configure.log)"
[ ! -e configured/tests ] || fail "tests without cmocka"
grep -q '^-- *tests: no, cmocka' configure.log || fail "no word of cmocka: $(tail -n 5 configure.log)"
