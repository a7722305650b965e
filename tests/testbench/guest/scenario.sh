# SPDX-License-Identifier: MIT
# Sourced by the scenarios of each machine.

load_pmu()
{
        # shellcheck disable=SC2046 # parameters
        insmod /bench/scripted_pmu.ko $(cat /bench/pmu) || exit 1
}

# pmu PARAMETER VALUE
pmu()
{
        echo "$2" >"/sys/module/scripted_pmu/parameters/$1" || exit 1
}

# sysctl NAME VALUE, in kernel
sysctl()
{
        echo "$2" >"/proc/sys/kernel/$1" || exit 1
}

# scenario NAME: the following commands leave their results in /results/NAME. The PMU forgets
# earlier scripts.
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

# record OPTION... [-- COMMAND...]: leaves record.db, and record.out and so on.
record()
{
        run record $as memlag record --source pebs -o record.db "$@"
}

# unprivileged FUNCTION...: as a user without any rights, who may write here.
unprivileged()
{
        chmod 777 .
        as="/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all
                --inh-caps=-all"
        "$@"
        as=
}

# journal: the actions of the PMU in this scenario.
journal()
{
        cat /proc/scripted_pmu/journal >journal.csv
}
