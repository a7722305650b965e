#!/bin/sh
# SPDX-License-Identifier: MIT
# The first requester of a cache line that other loads wait for: in a list whose nodes take a line
# each, the load of the first word (askers.c).
. "$SOURCE_DIR/tests/integration/library.sh"

source=$SOURCE_DIR/tests/integration/askers.c
cc -O1 -g "$source" -o askers
record run $SIM --sim-cpu skylake-sp --sim-set l3.size_bytes=10092544 --sim-set numa.nodes=1 -- ./askers

line()
{
        grep -n "$1" "$source" | head -1 | cut -d: -f1
}
key=$(line 'n->key;')
value=$(line 'n->value;')
next=$(line 'n = n->next;')

holds run.db "$value|$key
$next|$key" "SELECT line, asker_line FROM line_asker_view
        WHERE function = 'walk' AND share > 0.9 ORDER BY line"
# Each byte's load finds its line asked for by the same line of code, though others ask for
# lines of the same block meanwhile.
holds run.db 1 "SELECT sum(level = 'LFB') >= 1000 FROM sample_view WHERE function = 'add_bytes'"
holds run.db 0 "SELECT count(*) FROM line_asker_view WHERE function = 'add_bytes'"

# The C library's words in freed blocks are in the memory of many objects, so no object has
# requested them. (Later versions have several functions of such a name.)
holds run.db 1 "SELECT sum(level = 'LFB') >= 20 FROM sample_view WHERE function GLOB '_int_free*'"
holds run.db 0 "SELECT count(*) FROM line_asker_view WHERE asker_function GLOB '_int_free*'"

! "$MEMLAG" report -v -S touch run.db | grep -q "make that load faster" ||
        fail "what is not shown is explained"
"$MEMLAG" query --name askers --format csv run.db | grep -q ",walk,.*,$key$" ||
        fail "the query does not say who asked"
