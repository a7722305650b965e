# SPDX-License-Identifier: MIT
# A CPU with four counters, some of whose events can be on one of them only.
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
