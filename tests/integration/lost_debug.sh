#!/bin/sh
# SPDX-License-Identifier: MIT
# A part of the debug information is in another file and missing: no name, type or reason is made
# up.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >chase.c <<'END_C'
#include <stdlib.h>
struct node { struct node *next; long key; char pad[48]; };
static inline struct node *step(struct node *n)
{
        return n->next;
}
__attribute__((noinline)) long work(struct node *n, long times)
{
        long sum = 0;
        for (long i = 0; i < times; i++) {
                n = step(n);
                sum += n->key;
        }
        return sum;
}
int main(void)
{
        long count = 5003;
        struct node *nodes = calloc(count, sizeof(*nodes));
        for (long i = 0; i < count; i++)
                nodes[i].next = &nodes[(i * 7919 + 13) % count];
        return work(nodes, 20000) == 1;
}
END_C
sed 's/n->key/3 * n->key/' chase.c >other.c

# said DB: function, type.field and reason of the samples in the loop.
said()
{
        sqlite3 -readonly "$1" "SELECT DISTINCT l.function, coalesce(d.name || '.' || f.name, '')
                FROM attribution JOIN location AS l USING (location_id)
                LEFT JOIN type_field AS f USING (field_id) LEFT JOIN data_type AS d USING (type_id)
                WHERE l.file LIKE '%chase.c' AND l.line IN (5, 12) ORDER BY l.line"
}

known="step|struct node.next
work|struct node.key"

# check DB FUNCTION REASON: of most samples why they have no type.
check()
{
        refuses 1 'its debug information is not there' "$MEMLAG" symbolize "$1"
        "$MEMLAG" symbolize --drop-names "$1" 2>err
        expect "samples of $1" "$(said "$1")" "$2"
        holds "$1" "$3" "SELECT replace(kind, 'samples with no type: ', '') FROM ledger
                WHERE kind LIKE 'samples with no type: %' ORDER BY value DESC LIMIT 1"
}

recorded()
{
        record "$1" $SIM --ldlat 1 --period 7 -- "./$1"
        expect "samples of $1" "$(said "$1.db")" "$known"
}

# The file of a split unit is one of another build.
gcc -g -O2 -gsplit-dwarf -o split chase.c
recorded split
rm ./*.dwo
mkdir other
gcc -g -O2 -gsplit-dwarf -c -o other/other.o other.c
mv other/other.dwo split-chase.dwo
check split.db 'work|' 'no debug information'

skipped=0

# What dwz moved to a common file is gone.
if command -v dwz >/dev/null; then
        gcc -g -O2 -o first chase.c
        gcc -g -O2 -o second other.c
        dwz -m common first second
        readelf -SW first | grep -q gnu_debugaltlink || fail "dwz moved nothing"
        recorded first
        mv common gone
        check first.db 'work|' 'dwz file not found'
        id=$(readelf -n gone | sed -n 's/.*Build ID: //p')
        "$MEMLAG" report -v first.db | tr '\n' ' ' >report
        grep -qF "common (build-id $id)" report || fail "what to install is not said: $(cat report)"
        inlined=$(sqlite3 first.db "SELECT count(*) FROM attribution JOIN location AS l
                USING (location_id) WHERE l.file LIKE '%chase.c' AND l.line = 5")
        holds first.db "$inlined" "SELECT sum(value) FROM ledger WHERE kind =
                'samples in inlined functions without names: dwz file not found'"

        # Distributions link it below /usr/lib/debug. Another directory can replace that.
        gcc -g -O2 -o first chase.c
        gcc -g -O2 -o second other.c
        dwz -m common -M /usr/lib/debug/.dwz/memlag-test/common first second
        "$MEMLAG" symbolize --drop-names first.db
        record away $SIM --ldlat 1 --period 7 -- ./first
        expect "without its common file" "$(said away.db)" 'work|'
        mkdir -p wrong/.dwz/memlag-test right/.dwz/memlag-test root/usr/lib/debug/.dwz/memlag-test
        gcc -g -O2 -o wrong/other other.c
        cp wrong/other wrong/.dwz/memlag-test/common
        cp common right/.dwz/memlag-test/common
        mv common root/usr/lib/debug/.dwz/memlag-test/common
        "$MEMLAG" symbolize --debuginfo-path wrong away.db
        expect "with another common file" "$(said away.db)" 'work|'
        "$MEMLAG" symbolize --debuginfo-path wrong --debuginfo-path right away.db
        expect "with the common file below DIR" "$(said away.db)" "$known"
        cp -r --parents "$(pwd)/first" root
        "$MEMLAG" symbolize --drop-names --symfs root away.db
        expect "with the common file in the root" "$(said away.db)" "$known"
else
        echo "lost_debug.sh: SKIPPED the common file: dwz is not installed" >&2
        skipped=77
fi

# A separate debug file is another build's. One beside the program that has the program's
# name, as eu-strip gives it, is found in its directory of debug files.
others="SELECT total(value) FROM ledger WHERE kind = 'separate debug files of other builds'"
gcc -g -O2 -Wl,--build-id -o separate chase.c
recorded separate
mkdir -p .debug
objcopy --only-keep-debug separate .debug/separate
strip separate
objcopy --add-gnu-debuglink=.debug/separate separate
"$MEMLAG" symbolize separate.db
expect "with the debug file" "$(said separate.db)" "$known"
holds separate.db 0.0 "$others"
gcc -g -O2 -Wl,--build-id -o another other.c
objcopy --only-keep-debug another .debug/separate
"$MEMLAG" symbolize --drop-names separate.db
expect "with the debug file of another build" "$(said separate.db)" ""
holds separate.db 1.0 "$others"
exit $skipped
