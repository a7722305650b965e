#!/bin/bash
# SPDX-License-Identifier: MIT
# The Debian package: cpack -G DEB makes it with the dependencies of its programs. lintian finds no
# error in it, and its contents record and report.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

# Also where files are made for nobody else.
(
        umask 077
        cpack -G DEB --config "$BINARY_DIR/CPackConfig.cmake" -B "$PWD" >cpack.log 2>&1
) || fail "cpack: $(tail -n 5 cpack.log)"
package=$(echo memlag_*_amd64.deb)

# ---- dependencies: the packages that own the libraries the programs name ----
dpkg-deb -x "$package" root
depends=$(dpkg-deb -f "$package" Depends)
{ find root/usr/bin root/usr/libexec -type f -exec readelf -d {} + 2>readelf.log || true; } |
        sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u >libraries
[ -s libraries ] || fail "the package's programs need no library"
while read -r library; do
        [ "$library" != ld-linux-x86-64.so.2 ] || continue
        path=$(readlink -f "$(ldconfig -p | sed -n "s|^\s$library (libc6,x86-64.* => ||p")")
        # dpkg knows a merged /usr by either name.
        owner=$( (dpkg-query -S "$path" || dpkg-query -S "${path#/usr}") 2>dpkg.log | sed 's/:.*//')
        [[ ", $depends" == *", $owner ("* || ", $depends," == *", $owner,"* ]] ||
                fail "$library is in $owner, and not in Depends: $depends"
done <libraries

# ---- policy ----
lintian --allow-root --fail-on error "$package" >lintian.log 2>&1 || fail "lintian: $(cat lintian.log)"
find root ! -type l ! -perm -004 >unreadable
[ ! -s unreadable ] || fail "only for root: $(cat unreadable)"

# ---- it works, without the Valgrind that it was made with ----
! find root -type l | grep . || fail "a link out of the package"
env -i root/usr/bin/memlag record --source sim -o true.db -- /bin/true >out 2>err ||
        fail "record: status $?: $(cat err)"
env -i root/usr/bin/memlag report true.db >report || fail "report: status $?"
samples=$(env -i root/usr/bin/memlag query -i true.db --format csv "SELECT count(*) FROM sample_view" | tail -n 1)
[ "$samples" -gt 0 ] || fail "no samples of /bin/true"
man -l root/usr/share/man/man1/memlag-record.1.gz | grep -q '^NAME' || fail "man memlag-record"
