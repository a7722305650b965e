#!/bin/sh
# SPDX-License-Identifier: MIT
# A program of known phases (phases.c): memlag finds them in their order, with their bound. Each
# sample of a function lies in its phase or at most one interval beside it.
. "$SOURCE_DIR/tests/integration/library.sh"

cc -O1 -g "$SOURCE_DIR/tests/integration/phases.c" -o phases
record run $SIM --interval 1 -- ./phases
"$MEMLAG" report --by phase --format json run.db >phases.json

# The ring is made in pages that the kernel zeroes, which takes most of the time; then twice:
# arithmetic, chase, many lines.
expect "bounds" "$(as_json '*[p["bound"] for p in it["rows"]]' <phases.json)" \
"kernel compute latency in-core compute latency in-core"

# samples OF_FUNCTION OUTSIDE_OF_BOUND: those further than an interval from such a phase
far()
{
        answer run.db "
                SELECT count(*) FROM sample_view AS s WHERE function = '$1' AND NOT EXISTS (
                        SELECT 1 FROM phase_view AS p WHERE bound = '$2'
                        AND s.time_ns BETWEEN start_ns - 1000000 AND end_ns + 1000000)"
}
holds run.db 1 "SELECT min(n) >= 20 FROM (SELECT count(*) AS n FROM sample_view
        WHERE function IN ('chase', 'many_lines') GROUP BY function)"
expect "chase outside of its phases" "$(far chase latency)" 0
expect "many lines outside of their phases" "$(far many_lines in-core)" 0

# M17's classes, in the inner intervals of each phase: of the stalls for memory.
share()
{
        answer run.db "
                SELECT count(*) > 0 AND min(s.$2 / (s.latency_ratio + s.bandwidth_ratio)) > 0.9
                FROM stall_view AS s JOIN phase_limit_view AS p
                ON s.start_ns > p.start_ns AND s.end_ns < p.end_ns
                WHERE p.bound = '$1'
                AND s.start_ns >= p.start_ns + 3000000 * (p.bound = 'in-core')"
}
expect "a chase waits for latency" "$(share latency latency_ratio)" 1
expect "many lines wait for buffers" "$(share in-core bandwidth_ratio)" 1
holds run.db 1 "SELECT min(busy_ratio) > 0.5 FROM phase_limit_view WHERE bound = 'latency'"

# A chain of loads that hit L1: most cycles execute nothing, and no load missed L1. The table
# and the queries call that by one name, which is not the view's.
program chain <<'END'
int main(void)
{
        void *volatile self = (void *)&self;
        void **p = (void **)&self;
        for (long i = 0; i < 30000000; i++)
                p = *(void **volatile *)p;
        return p == 0;
}
END
record chain $SIM --interval 1 -- ./chain
holds chain.db compute "SELECT bound FROM phase_view ORDER BY end_ns - start_ns DESC LIMIT 1"
"$MEMLAG" report --by phase chain.db >table
says 'other stalls' table
for query in phases intervals; do
        "$MEMLAG" query -i chain.db --name $query >answer
        says 'other stalls' answer
        lacks compute answer
done

# Two threads that write to one line wait for each other, while DRAM moves nothing. Loads of
# the value that was just stored are fast on this CPU. Locked instructions wait as well.
cat >fight.c <<'END'
#include <pthread.h>
static struct { COUNT one, other; } both __attribute__((aligned(64)));
static void *count_one(void *none)
{
        for (long i = 0; i < 4000000; i++)
                both.one++;
        return none;
}
static void *count_other(void *none)
{
        for (long i = 0; i < 4000000; i++)
                both.other++;
        return none;
}
int main(void)
{
        pthread_t one, other;
        if (pthread_create(&one, NULL, count_one, NULL) ||
            pthread_create(&other, NULL, count_other, NULL))
                return 1;
        return pthread_join(one, NULL) || pthread_join(other, NULL);
}
END
for count in "volatile long" "_Atomic long"; do
        cc -O1 -g -pthread -DCOUNT="$count" fight.c -o fight
        record fight --source sim --sim-cpu zen4 --interval 1 -- ./fight
        holds fight.db 1 "
                SELECT latency_ratio > 0.3 AND bandwidth_ratio < 0.1 FROM phase_limit_view
                ORDER BY duration_ns DESC LIMIT 1"
done
