. /bench/scenario.sh
load_pmu
echo -1 >/proc/sys/kernel/perf_event_paranoid
scenario imc
run stat perf stat -x, -a -e uncore_imc_0/cas_count_read/ -e uncore_imc_0/cas_count_write/ sleep 0.1
run bad perf stat -x, -e uncore_imc_0/cas_count_read/ sleep 0.1
run list perf list
run doctor memlag doctor
