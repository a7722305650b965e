# SPDX-License-Identifier: MIT
# A CPU that libpfm4 does not know, under a kernel that names no events.
. /bench/scenario.sh

load_pmu
sysctl perf_event_paranoid 2
mount -t tmpfs tmp /sys/devices/cpu/events

scenario no_alias
record --period 100 -- /bench/player --steps 5000 /bench/sources.csv /bench/steps.txt
journal
scenario steady
record --interval 10 -- /bench/player --ms 100 /bench/sources.csv /bench/granite_rapids.txt
