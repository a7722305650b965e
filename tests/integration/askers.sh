#!/bin/sh
# SPDX-License-Identifier: MIT
# Who had asked for the lines of the cache that others wait for: in a list of nodes of one
# line the load of the first word, for those of the others (askers.c).
. "$SOURCE_DIR/tests/integration/library.sh"

source=$SOURCE_DIR/tests/integration/askers.c
cc -O1 -g "$source" -o askers
"$MEMLAG" record $SIM --sim-cpu skylake-sp --sim-set l3.size_bytes=10092544 \
        --sim-set numa.nodes=1 -o run.db -- ./askers >out 2>&1 || fail "record: $(cat out)"

line()
{
        grep -n "$1" "$source" | head -1 | cut -d: -f1
}
key=$(line 'n->key;')
value=$(line 'n->value;')
next=$(line 'n = n->next;')

expect "the words behind the first" "$(answer run.db "
        SELECT line, asker_line FROM line_asker_view
        WHERE function = 'walk' AND share > 0.9 ORDER BY line")" "$value|$key
$next|$key"
# Each byte's load finds its line asked for by the same line of code, though others ask for
# lines of the same block meanwhile.
[ "$(answer run.db "SELECT sum(level = 'LFB') FROM sample_view
                    WHERE function = 'add_bytes'")" -ge 1000 ] || fail "no bytes wait"
expect "bytes one after the other" \
        "$(answer run.db "SELECT count(*) FROM line_asker_view WHERE function = 'add_bytes'")" 0

# The C library's own words of freed blocks are in memory of many things: nothing tells which
# of them a load asked for. (Later versions have several functions of such a name.)
[ "$(answer run.db "SELECT sum(level = 'LFB') FROM sample_view
                    WHERE function GLOB '_int_free*'")" -ge 20 ] || fail "nothing waits in _int_free"
expect "the C library's words" \
        "$(answer run.db "SELECT count(*) FROM line_asker_view WHERE asker_function GLOB '_int_free*'")" 0

! "$MEMLAG" report -v -S touch run.db | grep -q "make that load faster" ||
        fail "what is not shown is explained"
"$MEMLAG" query --name askers --format csv run.db | grep -q ",walk,.*,$key$" ||
        fail "the query does not say who asked"
