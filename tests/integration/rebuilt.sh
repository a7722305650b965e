#!/bin/sh
# SPDX-License-Identifier: MIT
# A program without a build-id was built again after it was recorded. Its size and checksum show
# that, and it gives no names.
. "$SOURCE_DIR/tests/integration/library.sh"

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
record run $SIM --ldlat 1 --period 7 -- ./program
unverified="SELECT total(value) FROM ledger WHERE kind = 'samples in unverified binary'"
named="SELECT count(*) FROM sample_view WHERE function = 'work' AND line BETWEEN 7 AND 8"
samples=$(answer run.db "$named")
[ "$samples" -gt 1000 ] || fail "only $samples samples"
holds run.db 0.0 "$unverified"
holds run.db "$(python3 -c 'import zlib; b = open("program", "rb").read()
print(len(b), "%08x" % zlib.crc32(b))')" "SELECT size_bytes || ' ' || printf('%08x', checksum)
        FROM module_file JOIN module USING (module_id) WHERE path LIKE '%/program'"
lost='program would be lost: it was written since it was recorded'

# The same bytes with another time are the same file, here and in another place.
touch program
sqlite3 run.db "UPDATE name SET text = 'kept'"
ends 0 "$MEMLAG" symbolize run.db
says findings
holds run.db "$samples" "$named"
mkdir -p "root$PWD"
cp program "root$PWD/program"

# Another comment: the same code, of other lines. Then other code.
sed 's/^struct node {/\/* nodes *\/\n\n&/' chase.c >comment.c
sed 's/^__attribute/long other(long a) { return 3 * a; }\n&/' chase.c >code.c
for change in comment.c code.c; do
        build $change
        refuses 1 "$lost" "$MEMLAG" symbolize run.db
        holds run.db "$samples" "$named"
done
ends 0 "$MEMLAG" symbolize --symfs=root --drop-names run.db
holds run.db "$samples" "$named" # from the copy of the recorded file
ends 0 "$MEMLAG" symbolize --drop-names run.db
holds run.db 0 "SELECT count(*) FROM sample_view WHERE module LIKE '%/program' AND function IS NOT NULL"
holds run.db 1 "SELECT value >= $samples FROM ledger WHERE kind = 'samples in changed binary'"
holds run.db 0.0 "$unverified"
# It cannot be found by a build-id that it does not have.
"$MEMLAG" analyze run.db
"$MEMLAG" report -v run.db >report
tr -s '\n ' '  ' <report | grep -q "recorded files have: program (another file now)\. 'memlag symbolize' finds them where copies are (--symfs DIR)\." ||
        fail "the report of a file without build-id: $(cat report)"
rm program
ends 0 "$MEMLAG" symbolize run.db
cp "root$PWD/program" program
ends 0 "$MEMLAG" symbolize run.db
rm program
refuses 1 'program would be lost: it is not there; say where the recorded file is kept (--symfs) ' \
        "$MEMLAG" symbolize run.db

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
record run $SIM --ldlat 1 --period 7 -- ./program
samples=$(answer run.db "$named")
[ "$samples" -gt 1000 ] || fail "only $samples samples in alpha"
normalised omega
expect "the builds' sizes" "$(stat -c %s program)" "$size"
refuses 1 "$lost" "$MEMLAG" symbolize run.db
holds run.db "$samples" "$named"

# A message says that nothing is known of the file, as in recordings of other programs.
sqlite3 run.db 'DELETE FROM module_file; DELETE FROM name_source'
ends 0 "$MEMLAG" symbolize run.db
holds run.db 1 "SELECT ($unverified) > 0"
