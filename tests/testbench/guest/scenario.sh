# SPDX-License-Identifier: MIT
# Sourced by the scenarios of each machine.

# scenario NAME: what follows leaves its results in /results/NAME. The PMU forgets what
# was before.
scenario()
{
        mkdir "/results/$1"
        cd "/results/$1" || exit 1
        echo >/proc/scripted_pmu/forget
}

# run NAME COMMAND...: leaves NAME.out, NAME.err and NAME.status.
run()
{
        name=$1
        shift
        "$@" >"$name.out" 2>"$name.err"
        echo $? >"$name.status"
}

# journal: what the PMU did in this scenario.
journal()
{
        cat /proc/scripted_pmu/journal >journal.csv
}

load_pmu()
{
        # shellcheck disable=SC2046 # parameters
        insmod /bench/scripted_pmu.ko $(cat /bench/pmu) || exit 1
}

