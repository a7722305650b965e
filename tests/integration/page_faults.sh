#!/bin/sh
# SPDX-License-Identifier: MIT
# A known number of page faults (page_faults.c): the model counts them by function, line and object
# like the kernel, and prices them by the keys kernel.*. They are the verdict.
. "$SOURCE_DIR/tests/integration/library.sh"

cc -O1 -g "$SOURCE_DIR/tests/integration/page_faults.c" -o page_faults
head -c 8192000 /dev/urandom >page_faults.data
cat page_faults.data >/dev/null
./page_faults page_faults.data >native

# simulate NAME OPTIONS
simulate()
{
        name=$1
        shift
        record "$name" $SIM --no-heap "$@" -- ./page_faults page_faults.data
}

of_function="SELECT total(page_faults) FROM function_finding WHERE function ="
cycles="SELECT sum(value) FROM counter JOIN reading USING (counter_id) WHERE name ="

# counts_as_native DATABASE: equals the kernel's count. A few faults are of the stack, or at the
# ends of 64 KiB.
counts_as_native()
{
        while read -r function native; do
                model=$(answer "$1" "$of_function '$function'" | sed 's/\.0$//')
                [ "$((model - native))" -ge -8 ] && [ "$((model - native))" -le 8 ] ||
                        fail "$function: $model faults, the kernel counted $native"
        done <native
}

simulate plain
counts_as_native plain.db
holds plain.db 0.0 "$of_function 'write_again'"

line=$(grep -n '/\* fresh \*/' "$SOURCE_DIR/tests/integration/page_faults.c" | cut -d: -f1)
holds plain.db "$line 2000 page-faults" "SELECT line || ' ' || page_faults || ' ' || verdict FROM line_view
        WHERE function = 'write_fresh' AND page_faults > 0"
holds plain.db 1 "SELECT sum(page_faults) >= 4000 FROM object_view
        WHERE object_kind = 'mmap' AND verdict = 'page-faults'"

# Lines that only faulted, and not for long, lack no samples.
holds plain.db 1 "SELECT count(*) > 0 AND min(verdict) = 'none' AND max(verdict) = 'none'
        FROM line_finding WHERE samples = 0 AND fault_ratio < 0.005"

# Without other samples, only the faults' time is known to be lost.
changed plain.db faults.db "DELETE FROM sample WHERE sample_id NOT IN
        (SELECT sample_id FROM page_fault)"
"$MEMLAG" analyze faults.db
holds faults.db 1 "SELECT count(*) > 0 AND min(stalled_ratio = fault_ratio)
        FROM line_view WHERE fault_ratio > 0"

# All faults that a line has are counted, and their time is in the run's cycles.
holds plain.db 1 "SELECT abs(sum(fault_ratio) * ($cycles 'cpu_clk_unhalted.thread')
        / ($cycles 'kernel.fault_cycles') - 1) < 0.02 FROM function_finding"
holds plain.db 1 "SELECT sum(page_faults) BETWEEN ($cycles 'page-faults') - 4 AND
        ($cycles 'page-faults') FROM function_finding"

# Pages that mmap itself provides (MAP_POPULATE) take as long, as a part of that call.
holds plain.db 1 "SELECT 1500 + 4096 / 10 < ($cycles 'kernel.call_cycles') / 2.1 / 4000"

# A fault without price leaves what zeroing takes: 4 KiB at 10 GB/s.
simulate free --sim-set kernel.fault_ns=0
dearer=$(answer plain.db "SELECT CAST(sum(value) / 2100.0 / 6125 AS INTEGER) FROM counter JOIN
        reading USING (counter_id) WHERE name = 'kernel.fault_cycles'")
cheaper=$(answer free.db "SELECT CAST(sum(value) / 2100.0 / 6125 * 1000 AS INTEGER) FROM counter
        JOIN reading USING (counter_id) WHERE name = 'kernel.fault_cycles'")
[ "$dearer" = 1 ] || [ "$dearer" = 2 ] || fail "a fault takes $dearer us"
[ "$cheaper" -ge 380 ] && [ "$cheaper" -le 520 ] || fail "zeroing takes $cheaper ns a page"

# Nothing here is malloc's.
"$MEMLAG" report plain.db >brief
says page-faults brief
lacks M_MMAP_THRESHOLD brief

"$MEMLAG" report -v plain.db | tr '\n' ' ' >prose
says "[0-9.]*% for [0-9]* page faults" prose

# After a fork either process faults at its first write to a page, and copies the page where
# the other has it still.
cc -O1 -g "$SOURCE_DIR/tests/integration/page_forks.c" -o page_forks
./page_forks >native
record forks $SIM --no-heap -- ./page_forks
counts_as_native forks.db
copying=$(answer forks.db "SELECT group_concat(function, ' ') FROM (SELECT function
        FROM page_fault JOIN sample_location USING (sample_id) JOIN location USING (location_id)
        WHERE function LIKE 'write%' AND kernel_cycles BETWEEN faults * 2.1 * 1900
                AND faults * 2.1 * 1920 GROUP BY 1 HAVING sum(faults) > 1990 ORDER BY 1)")
expect "copied" "$copying" "write_beside_child write_in_child"
