# SPDX-License-Identifier: MIT
# A server CPU without an auxiliary event, under a kernel that does not know
# PERF_SAMPLE_WEIGHT_STRUCT.
. /bench/scenario.sh

steps="/bench/sources.csv /bench/steps.txt"

load_pmu
memlag doctor --format json >/results/doctor.json
echo 2 >/proc/sys/kernel/perf_event_paranoid

scenario import
perf mem record -t load -c 100 -o - -- \
        sh -c "exec /bench/player --thread --exec --steps 20000 $steps >player.out" 2>log |
        memlag import -o import.db - >import.out 2>>log
journal
