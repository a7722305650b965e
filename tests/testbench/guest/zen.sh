# SPDX-License-Identifier: MIT
# A CPU with instruction sampling that has a latency threshold, and a kernel that can leave
# itself out of the samples.
. /bench/scenario.sh

ibs="--extra 7 /bench/sources.csv /bench/ibs.txt"
record_ibs()
{
        run record $as memlag record --source ibs -o record.db "$@"
}

uname -r >/results/kernel
load_pmu
memlag doctor --format json >/results/doctor.json
sysctl perf_event_paranoid 2

scenario task
record_ibs --period 20000 -- /bench/player --thread --fork --exec --ms 200 $ibs
journal
scenario all
record_ibs --period 20000 -a -- /bench/player --thread --fork --exec --ms 200 $ibs
journal
scenario threshold
record_ibs --period 20000 --ldlat 300 -a -- /bench/player --ms 200 $ibs
journal
scenario validate
cat /bench/validate.txt >/proc/scripted_pmu/script
export XDG_DATA_HOME="$PWD"
run validate memlag validate --format json ex_ret_instr ls_alloc_mab_count
rm -r memlag
unset XDG_DATA_HOME
echo >/proc/scripted_pmu/forget
scenario unprivileged_all
unprivileged record_ibs -a --duration 0.1
