# SPDX-License-Identifier: MIT
# A server CPU whose load latency event needs the auxiliary event before it.
. /bench/scenario.sh

memlag doctor --format json >/results/doctor-without-pmu.json
load_pmu
memlag doctor --format json >/results/doctor.json
echo 2 >/proc/sys/kernel/perf_event_paranoid

# The bench itself: what perf records is what the script says.
scenario perf
run record perf mem record -t load -o /tmp/perf.data -- \
        /bench/player --thread --exec --ms 150 --extra 7 /bench/sources.csv /bench/loads.txt
journal
run script perf script -i /tmp/perf.data -F tid,time,event,ip,addr,data_src,weight
