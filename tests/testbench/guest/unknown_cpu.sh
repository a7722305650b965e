# SPDX-License-Identifier: MIT
# An Intel CPU that is newer than this version of memlag, which knows only the events that the
# kernel names.
. /bench/scenario.sh

loads="/bench/sources.csv /bench/loads.txt"
steps="/bench/sources.csv /bench/steps.txt"

load_pmu
memlag doctor --format json >/results/doctor.json
sysctl perf_event_paranoid 2

scenario hint
record --period 4000 -- /bench/player --thread --exec --ms 50 $loads
journal

# A kernel that does not tell how precise events can be.
scenario no_caps
mount -t tmpfs tmp /sys/devices/cpu/caps
record --period 100 -- /bench/player --steps 5000 $steps
journal

# A kernel that names no events.
scenario no_alias
mount -t tmpfs tmp /sys/devices/cpu/events
record --period 100 -- /bench/player --steps 5000 $steps
memlag doctor --format json >doctor.json
