# SPDX-License-Identifier: MIT
# A server CPU whose load latency event needs the auxiliary event before it.
. /bench/scenario.sh

# The last arguments of a player: its input files, and the form in which the PMU sees them.
loads="--extra 7 /bench/sources.csv /bench/loads.txt"
steps="--extra 7 /bench/sources.csv /bench/steps.txt"
phases="--extra 7 /bench/sources.csv /bench/phases.txt"
steady="--extra 7 /bench/sources.csv /bench/steady.txt"

memlag doctor --format json >/results/doctor-without-pmu.json
load_pmu
memlag doctor --format json >/results/doctor.json
sysctl perf_event_paranoid 2

# By time: threads are interrupted anywhere.
scenario hint
record --period 4000 -- /bench/player --thread --exec --ms 100 $loads
journal

# By steps, beside perf: two recorders, the same samples.
scenario steps
record --period 100 --ldlat 31 -- /bench/player --thread --exec --steps 10000 $steps
journal
scenario import
perf mem record -t load -c 100 -o - -- \
        sh -c "exec /bench/player --thread --exec --steps 10000 $steps >player.out" 2>log |
        memlag import -o import.db - >import.out 2>>log
journal

# Tests the bench itself: perf records the script's samples.
scenario perf
run record perf mem record -t load -o /tmp/perf.data -- \
        sh -c "exec /bench/player --thread --exec --ms 100 $loads >player.out"
journal
run script perf script -i /tmp/perf.data -F tid,time,event,ip,addr,data_src,weight

scenario stores
record --period 100 --stores -- /bench/player --thread --exec --steps 5000 $steps
journal

# Counters.
scenario phases
record --interval 10 -- /bench/player --ms 210 $phases
cat /proc/scripted_pmu/imc >imc.csv
scenario rotation
pmu counters 5
record --interval 10 -- /bench/player --thread --ms 200 $steady
pmu counters 8

# Losses.
scenario throttled
sysctl perf_event_max_sample_rate 1000
record --period 2000 -- /bench/player --ms 100 $loads
sysctl perf_event_max_sample_rate 100000
journal
scenario small_ring
sysctl perf_event_max_sample_rate 1000000
record --mmap-pages 1 --period 1 -- /bench/player --steps 4000 $steps
journal

# Other targets than a command.
scenario attach
/bench/player --thread --fork --ms 2500 $loads >player.out &
record --period 8000 -p $!
wait
journal
scenario all
/bench/player --thread --exec --ms 800 $loads >player.out &
record --period 4000 -a --duration 0.5
wait
journal

# Without rights.
scenario unprivileged
unprivileged record --period 100 -- /bench/player --thread --exec --steps 5000 $steps
journal
scenario unprivileged_all
unprivileged record -a --duration 0.1
scenario paranoid
sysctl perf_event_paranoid 3
unprivileged record -- /bench/player --steps 100 $steps
sysctl perf_event_paranoid 2

scenario imprecise
pmu max_precise 0
record -- /bench/player --steps 100 $steps
memlag doctor --format json >doctor.json
pmu max_precise 3
