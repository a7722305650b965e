. /bench/scenario.sh
load_pmu
echo 2 >/proc/sys/kernel/perf_event_paranoid
scenario clock
up() { cat /proc/uptime; }
up
run record memlag record --source clock -o record.db -- /bench/player --ms 100 /bench/sources.csv /bench/phases.txt
up
run script memlag doctor
up
