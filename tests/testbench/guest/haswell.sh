# SPDX-License-Identifier: MIT
# A CPU with four counters; some events can only be on one of them.
. /bench/scenario.sh

load_pmu
sysctl perf_event_paranoid 2

scenario rotation
record --interval 10 -- /bench/player --ms 200 /bench/sources.csv /bench/haswell.txt

# A kernel that names no events: libpfm4 knows this CPU.
scenario no_alias
mount -t tmpfs tmp /sys/devices/cpu/events
record --period 100 -- /bench/player --steps 5000 /bench/sources.csv /bench/steps.txt
journal

# Counters with known faults: what validate finds is not counted afterwards.
scenario validate
cat /bench/validate.txt >/proc/scripted_pmu/script
export XDG_DATA_HOME="$PWD"
run validate memlag validate --format json inst_retired.any l1d_pend_miss.pending \
        cycle_activity.stalls_l1d_pending cycle_activity.cycles_no_execute \
        uops_executed.stall_cycles
echo >/proc/scripted_pmu/forget
record --interval 10 -- /bench/player --ms 100 /bench/sources.csv /bench/haswell.txt
rm -r memlag
unset XDG_DATA_HOME
