#!/bin/sh
# SPDX-License-Identifier: MIT
# A program without a build-id that was built again since it was recorded: it is told by its
# size and checksum, and gives no names.
. "$SOURCE_DIR/tests/integration/library.sh"

ask()
{
        sqlite3 -readonly run.db "$1"
}

cat >chase.c <<'END_OF_C'
#include <stdlib.h>
struct node { struct node *next; long key[7]; };
static struct node nodes[4096];
__attribute__((noinline)) long work(struct node *at)
{
        long sum = 0;
        for (int i = 0; i < 100000; i++, at = at->next)
                sum += at->key[0];
        return sum;
}
int main(void)
{
        for (int i = 0; i < 4096; i++)
                nodes[i].next = &nodes[(i * 5 + 1) % 4096];
        return work(nodes) != 0;
}
END_OF_C
build()
{
        gcc -g -O1 -Wl,--build-id=none -o program "$1"
}
build chase.c
"$MEMLAG" record $SIM --ldlat 1 --period 7 -o run.db -- ./program >out 2>&1 ||
        fail "$(cat out)"
unverified="SELECT total(value) FROM ledger WHERE kind = 'samples in unverified binary'"
named="SELECT count(*) FROM sample_view WHERE function = 'work' AND line BETWEEN 7 AND 8"
samples=$(ask "$named")
[ "$samples" -gt 1000 ] || fail "only $samples samples"
[ "$(ask "$unverified")" = 0.0 ] || fail "what is known of the program is not compared"
[ "$(ask "SELECT size_bytes || ' ' || printf('%08x', checksum) FROM module_file
        JOIN module USING (module_id) WHERE path LIKE '%/program'")" = \
        "$(python3 -c 'import zlib; b = open("program", "rb").read()
print(len(b), "%08x" % zlib.crc32(b))')" ] || fail "not the program: $(ask 'SELECT * FROM module_file')"

# again STATUS WORDS [OPTION...]: is named again, and says WORDS.
again()
{
        status=0
        wanted=$1
        words=$2
        shift 2
        "$MEMLAG" symbolize "$@" run.db 2>err || status=$?
        [ "$status" = "$wanted" ] || fail "symbolize $* ended with $status: $(cat err)"
        [ -z "$words" ] || grep -q "$words" err || fail "symbolize $* does not say '$words': $(cat err)"
}

# The same bytes with another time are the same file, here and in another place.
touch program
sqlite3 run.db "UPDATE name SET text = 'kept'"
again 0 'findings'
[ "$(ask "$named")" = "$samples" ] || fail "a file that was touched is not the recorded one"
mkdir -p "root$PWD"
cp program "root$PWD/program"

# Another comment: the same code, of other lines. Then other code.
sed 's/^struct node {/\/* nodes *\/\n\n&/' chase.c >comment.c
sed 's/^__attribute/long other(long a) { return 3 * a; }\n&/' chase.c >code.c
for change in comment.c code.c; do
        build $change
        again 1 "program would be lost: it was written since it was recorded"
        [ "$(ask "$named")" = "$samples" ] || fail "$change: names are lost"
done
again 0 '' --symfs=root --drop-names
[ "$(ask "$named")" = "$samples" ] || fail "the copy of the recorded file gives no names"
again 0 '' --drop-names
[ "$(ask "SELECT count(*) FROM sample_view WHERE module LIKE '%/program' AND function IS NOT NULL")" = 0 ] ||
        fail "names from a file that was built again"
[ "$(ask "SELECT value FROM ledger WHERE kind = 'samples in changed binary'")" -ge "$samples" ] ||
        fail "the ledger does not say that the file has changed: $(ask 'SELECT * FROM ledger')"
[ "$(ask "$unverified")" = 0.0 ] || fail "unverified, though compared"
# It cannot be found by a build-id that it does not have.
"$MEMLAG" analyze run.db
"$MEMLAG" report -v run.db >report
tr -s '\n ' '  ' <report | grep -q "recorded files have: program (another file now)\. 'memlag symbolize' finds them where copies are (--symfs DIR)\." ||
        fail "the report of a file without build-id: $(cat report)"
rm program
again 0 ''
cp "root$PWD/program" program
again 0 ''
rm program
again 1 'program would be lost: it is not there; say where the recorded file is kept (--symfs) '

# Two builds of one size, both with the one time that images with normalised times have.
normalised()
{
        sed "s/work/$1/" chase.c >named.c
        build named.c
        touch -d @1 program
}
named="SELECT count(*) FROM sample_view WHERE function = 'alpha' AND line BETWEEN 7 AND 8"
normalised alpha
size=$(stat -c %s program)
"$MEMLAG" record --force $SIM --ldlat 1 --period 7 -o run.db -- ./program >out 2>&1 ||
        fail "$(cat out)"
samples=$(ask "$named")
[ "$samples" -gt 1000 ] || fail "only $samples samples in alpha"
normalised omega
[ "$(stat -c %s program)" = "$size" ] || fail "the builds are not of one size"
again 1 "program would be lost: it was written since it was recorded"
[ "$(ask "$named")" = "$samples" ] || fail "another file of the same size and time gives names"

# Where nothing is known of the file, as in what others recorded, that is said.
sqlite3 run.db 'DELETE FROM module_file; DELETE FROM name_source'
again 0 ''
[ "$(ask "$unverified")" != 0.0 ] || fail "the ledger does not count what cannot be compared"
