#!/bin/bash
# SPDX-License-Identifier: MIT
# Each system call has the same result, with good and bad arguments, for a simulated program as
# alone. The program runs as a user without rights, in separate PID, mount, network and IPC
# namespaces.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

place=$(mktemp -d /tmp/call-sweep.XXXXXX)
chmod 755 "$place"
trap 'rm -rf "$place"' EXIT
nobody=65534
# The build may be where no other user comes, below /root: inside, it is below $place too.
mkdir "$place/build"
sweep=$place/build/tests/integration/call_sweep
memlag=$place/build/${MEMLAG#"$BINARY_DIR/"}
# inside DIRECTORY COMMAND...
inside()
{
        mkdir -m 777 "$place/$1"
        # shellcheck disable=SC2016 # for the shell inside
        (cd "$place/$1" && unshare --pid --fork --kill-child --mount --mount-proc --net --ipc \
                sh -c 'mount --bind "$0" "$1" && shift && exec setpriv "$@"' "$BINARY_DIR" "$place/build" \
                --reuid $nobody --regid $nobody --clear-groups --no-new-privs \
                env "HOME=$place/$1" "XDG_DATA_HOME=$place/$1" "${@:2}")
}
if ! inside try "$memlag" --help >/dev/null 2>&1; then
        echo "call_sweep: no namespaces or mounts here" >&2
        exit 77
fi

# In parts side by side: most of the time some call waits for longer than it may.
parts=4
started=()
for part in $(seq 0 $((parts - 1))); do
        inside alone$part timeout 300 "$sweep" 1 $part $parts >alone.$part &
        started+=($!)
        inside simulated$part timeout 800 "$memlag" record -o "$place/simulated$part/sweep.db" --source sim \
                --no-heap -- "$sweep" 4 $part $parts >simulated.$part 2>record.$part.log &
        started+=($!)
done
for process in "${started[@]}"; do
        wait "$process" || fail "status $?: $(tail -qn 5 record.*.log)"
done
# The report comes after the output of a simulated part.
for part in $(seq 0 $((parts - 1))); do
        cat alone.$part >>alone
        sed '/^memlag: /,$d' simulated.$part >>simulated
done
[ "$(cut -d' ' -f1 alone | sort -u | wc -l)" -gt 300 ] || fail "alone: $(wc -l <alone) lines"

# ---- only calls unknown to an older kernel are refused ----
grep '^refused:' simulated | grep -v ' ENOSYS$' && fail "refused, and not ENOSYS"
for file in alone simulated; do grep -v '^refused:' $file >$file.rest; done

# ---- others are as alone ----
for file in alone simulated; do
        awk 'NR == FNR { known[$0] = 1; next } !($1 in known) && !(($1 " " $2) in known)' \
                "$SOURCE_DIR/tests/integration/call_sweep.txt" $file.rest >$file.same
done
diff alone.same simulated.same || fail "system calls that end otherwise than alone"
