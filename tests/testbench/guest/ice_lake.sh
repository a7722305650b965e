# SPDX-License-Identifier: MIT
# A server CPU without an auxiliary event, under a kernel that does not know
# PERF_SAMPLE_WEIGHT_STRUCT.
. /bench/scenario.sh

loads="/bench/sources.csv /bench/loads.txt"
steps="/bench/sources.csv /bench/steps.txt"

load_pmu
memlag doctor --format json >/results/doctor.json
sysctl perf_event_paranoid 2

scenario steps
record --period 100 --ldlat 31 -- /bench/player --thread --exec --steps 5000 $steps
journal
scenario import
perf mem record -t load -c 100 -o - -- \
        sh -c "exec /bench/player --thread --exec --steps 5000 $steps >player.out" 2>log |
        memlag import -o import.db - >import.out 2>>log
journal
scenario heap
record --period 100 --phys-data --data-page-size -- /bench/player --heap --steps 5000 $steps
journal

# perf mem and memlag on the same script, by time.
scenario shares
record --period 4000 -- /bench/player --ms 500 $loads
run perf perf mem record -t load -c 4000 -o /tmp/perf.data -- /bench/player --ms 500 $loads
run script perf script -i /tmp/perf.data -F tid,time,event,ip,addr,data_src,weight
