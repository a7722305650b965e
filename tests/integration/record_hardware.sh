#!/bin/sh
# SPDX-License-Identifier: MIT
# The CPU's own samples, if this machine has them: a chain of loads from memory, whose waiting line
# and data location are known. Elsewhere the source is refused with its reason, and nothing runs.
. "$SOURCE_DIR/tests/integration/library.sh"

"$MEMLAG" doctor --format json >doctor.json || true
for source in pebs ibs; do
        status=0
        "$MEMLAG" record --source $source -o $source.db -- \
                "$BINARY_DIR/examples/chase" 8000000 3000000 >out 2>err || status=$?
        if python3 -c 'import json, sys
sys.exit(not any(f["topic"] == sys.argv[1] and f["status"] == "ok"
                 for f in json.load(open("doctor.json"))))' $source; then
                [ "$status" -eq 0 ] || fail "$source: status $status: $(cat err)"
                found=$("$MEMLAG" query --format csv $source.db "
                        SELECT (SELECT value FROM run_info WHERE key = 'numbers'),
                               sum(dram_samples) > 100,
                               sum(latency_share) FILTER (WHERE file LIKE '%chase.c') > 0.9
                        FROM line_view" | tail -n 1)
                [ "$found" = measured,1,1 ] || fail "$source: $found: $(cat err)"
                continue
        fi
        echo "SKIPPED: no $source here: $(cat err)"
        [ "$status" -eq 1 ] || fail "$source without its PMU ended with $status"
        [ "$(wc -l <err)" -eq 1 ] || fail "$source: more than a line: $(cat err)"
        grep -q '; use \|; record \|; sysctl \|: use ' err || fail "no remedy: $(cat err)"
        [ ! -s out ] && [ ! -e $source.db ] || fail "$source left something behind"
done
