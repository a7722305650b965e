# SPDX-License-Identifier: MIT
# A server CPU whose load latency event needs the auxiliary event before it.
. /bench/scenario.sh

# The last arguments of a player: what it reads, and how the PMU shall see that.
loads="--extra 7 /bench/sources.csv /bench/loads.txt"
steps="--extra 7 /bench/sources.csv /bench/steps.txt"

memlag doctor --format json >/results/doctor-without-pmu.json
load_pmu
memlag doctor --format json >/results/doctor.json
echo 2 >/proc/sys/kernel/perf_event_paranoid

# The bench itself: what perf records is what the script says.
scenario perf
run record perf mem record -t load -o /tmp/perf.data -- \
        sh -c "exec /bench/player --thread --exec --ms 100 $loads >player.out"
journal
run script perf script -i /tmp/perf.data -F tid,time,event,ip,addr,data_src,weight

scenario import
perf mem record -q -t load -c 100 -o - -- \
        sh -c "exec /bench/player --thread --exec --steps 20000 $steps >player.out" \
        2>log | memlag import -o import.db - >import.out 2>>log
journal
