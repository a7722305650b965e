# SPDX-License-Identifier: MIT
# A hybrid CPU: a player on the large core, CPU 0, and another one on the small one.
. /bench/scenario.sh

# on_both ARGUMENT...: a command that runs a player with these on each core.
on_both()
{
        echo "taskset 1 /bench/player $* >large.out & taskset 2 /bench/player $* >small.out; wait"
}

load_pmu
memlag doctor --format json >/results/doctor.json
sysctl perf_event_paranoid 2

scenario steps
record --period 100 -- sh -c "$(on_both --extra 7 --steps 5000 /bench/sources.csv /bench/steps.txt)"
journal
scenario counters
record --interval 10 -- sh -c "$(on_both --ms 150 /bench/sources.csv /bench/alder_lake.txt)"
# One player, which is moved from one kind of core to the other, as long as it lives.
scenario moving
record --period 4000 -- sh -c "/bench/player --extra 7 --ms 500 /bench/sources.csv \
        /bench/alder_lake.txt >player.out &
        while taskset -p 1 \$! && taskset -p 2 \$!; do :; done >moves 2>&1; wait"
journal
# The latency under load, of a chase on the large core beside loads on the small one.
scenario calibrate
{ echo script all; cat /bench/calibrate.txt; } >/proc/scripted_pmu/script
export XDG_DATA_HOME="$PWD"
# A guest that its host gives little time has none for any of the loads, or for memory's
# latency. With little data to prepare it has more for them.
for _ in 1 2; do
        run calibrate sh -c 'ulimit -v 220000; exec memlag calibrate --quick --force'
        run export memlag calibrate --export json
        ! grep -q '"lmrl_cycles"' export.out || break
done
echo >/proc/scripted_pmu/forget
record --interval 10 -- /bench/player --ms 50 /bench/sources.csv /bench/alder_lake.txt
rm -r memlag
unset XDG_DATA_HOME
