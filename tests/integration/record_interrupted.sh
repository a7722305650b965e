#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings that do not go to their end: signals, a terminal's Ctrl-C, a killed
# memlag, a full disk.
. "$SOURCE_DIR/tests/integration/library.sh"

# Loads from DRAM, says "ready", and goes on for as long as it may: until SIGUSR1, or for so
# many rounds, after which it can end by a signal.
program busy <<'END'
static volatile sig_atomic_t signals;
static void count(int number)
{
        signals++;
}
int main(int argc, char **argv)
{
        size_t size = 64 << 20;
        volatile char *block = calloc(size, 1);
        signal(SIGUSR1, count);
        long rounds = argc > 1 ? atol(argv[1]) : -1;
        for (long round = 0; round != rounds; round++) {
                for (size_t i = 0; i < size; i += 64)
                        block[i * 7919 % size]++;
                if (round == 0)
                        (void)!write(1, "ready\n", 6);
                if (signals == 1)
                        return 42;
        }
        return argc > 2 ? raise(atoi(argv[2])) : 0;
}
END

# has_samples FILE MOST: whether there are more.
has_samples()
{
        [ "$(answer "$1" 'SELECT count(*) FROM sample')" -gt "$2" ]
}

# ---- Valgrind can leave no file anywhere ----
# If no file can be made, the target runs all the same. It reads the same command line and auxiliary
# vector as without memlag.
TMPDIR=$PWD/no-such-directory "$MEMLAG" record $SIM -o nowhere.db -- \
        cat /proc/self/cmdline >cmdline 2>err || fail "without a temporary directory: $(cat err)"
[ "$(tr '\0' ' ' <cmdline)" = "cat /proc/self/cmdline " ] || fail "its command line: $(cat cmdline)"
record nowhere $SIM -- sh -c 'ulimit -f 0; exec true'
# Nor does it end where it forbids itself writable code (PR_SET_MDWE).
record nowhere $SIM -- perl -e 'syscall(157, 65, 1, 0, 0, 0); exec "true"'
mkdir watched
TMPDIR=$PWD/watched python3 - "$MEMLAG" <<'END'
import ctypes
import os
import subprocess
import sys

# A file that was there for a moment only makes an event too.
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(os.O_NONBLOCK)
assert watch >= 0 and libc.inotify_add_watch(watch, b"watched", 0x100) > 0  # IN_CREATE
auxv = subprocess.run([sys.argv[1], "record", "--source", "sim", "-o", "watched.db", "--", "sh",
                       "-c", "cat /proc/self/auxv; exec cat /proc/self/auxv"],
                      capture_output=True, check=True).stdout
kinds = list(memoryview(auxv).cast("Q"))[::2]
assert kinds.count(0) == 2 and kinds[-1] == 0 and kinds.count(6) == 2, kinds  # AT_NULL, AT_PAGESZ
try:
    raise AssertionError(os.read(watch, 4096))
except BlockingIOError:
    pass
END

# ---- signals to memlag are the target's ----
"$MEMLAG" record $SIM -o usr1.db -- ./busy >usr1.out 2>err &
memlag=$!
until_true grep ready usr1.out
kill -USR1 $memlag
ended 42 $memlag

"$MEMLAG" record $SIM -o term.db -- ./busy >term.out 2>err &
memlag=$!
until_true grep ready term.out
kill -TERM $memlag
ended 143 $memlag
holds term.db complete "SELECT value FROM run WHERE key = 'state'"
holds term.db 1 'SELECT count(*) > 100 FROM sample'

# ---- after --duration the recording is complete, and the command goes on ----
is_complete()
{
        [ "$(answer "$1" "SELECT value FROM run WHERE key = 'state'")" = complete ]
}
for seconds in 2 20 200; do # on a busy machine the first may be over before it loads much
        rm -f part.db*
        "$MEMLAG" record $SIM --duration $seconds --interval 10000 -o part.db -- ./busy >part.out 2>part.err &
        memlag=$!
        until_true is_complete part.db
        ends 0 "$MEMLAG" report part.db >part.txt
        ends 0 "$MEMLAG" symbolize part.db
        kill -USR1 $memlag || fail "memlag has ended before its command: $(cat part.err)"
        ended 42 $memlag part.err
        holds part.db complete "SELECT value FROM run WHERE key = 'state'"
        ! has_samples part.db 1000 || break
done

# ---- samples and cycles cover the same time, in any end of the recording ----
# The only interval is incomplete. It lasts until the last sample, and has every page fault of the
# samples.
ends 137 "$MEMLAG" record $SIM --interval 10000 -o cut.db -- ./busy 2 9 >out
for end in part cut; do
        holds $end.db '1|1' "
                WITH busiest AS (SELECT thread_id, max(time_ns) AS time_ns,
                                        (SELECT total(faults) FROM page_fault
                                         JOIN sample AS s USING (sample_id)
                                         WHERE s.thread_id = sample.thread_id) AS faults
                                 FROM sample GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)
                SELECT count(*), max(abs(value - faults) < 0.02 * faults AND faults > 100 AND
                                     abs(end_ns - time_ns) < 0.01 * time_ns)
                FROM reading JOIN counter USING (counter_id) JOIN busiest USING (thread_id)
                WHERE name = 'page-faults'"
        holds $end.db 1 'SELECT total(stalled_ratio) BETWEEN 0.3 AND 1 FROM function_finding'
done

# ---- a report of a recording that still runs leaves the final one as it is ----
"$MEMLAG" record $SIM -o live.db -- ./busy >live.out 2>err &
memlag=$!
until_true grep ready live.out
until_true has_samples live.db 0
"$MEMLAG" report -v live.db >early.txt 2>early.err || fail "report while it runs: $(cat early.err)"
kill -TERM $memlag
wait $memlag || true
holds live.db 1 'SELECT count(*) = (SELECT count(location_id) FROM sample_location) FROM sample'

# ---- Ctrl-C on a terminal ----
# terminal.py WHEN COMMAND...: Ctrl-C when the command has said "ready", or so many seconds after
# the terminal is the child's: before, Ctrl-C reaches nobody.
cat >terminal.py <<'END'
import os, pty, signal, sys, threading
when, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.write(1, b"!")
    os.execvp(command[0], command)
assert os.read(terminal, 1) == b"!"
if when != "ready":
    threading.Timer(float(when), os.write, (terminal, b"\x03")).start()
seen = b""
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    if when == "ready" and b"ready" not in seen and b"ready" in seen + chunk:
        os.write(terminal, b"\x03")
    seen += chunk
os.write(1, seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
ends 130 python3 terminal.py ready "$MEMLAG" record $SIM -o tty.db -- ./busy >out
holds tty.db 2 "SELECT value FROM run WHERE key = 'signal'"
holds tty.db complete "SELECT value FROM run WHERE key = 'state'"
says 'busy\.c:' out

# ---- Ctrl-Z on a terminal: the job stops and continues like the command alone ----
# One process acts as the shell, the other one as the terminal.
cat >stop.py <<'END'
import os, pty, signal, sys

shell, terminal = pty.fork()
if shell == 0:
    signal.alarm(600)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    wait, go = os.pipe()
    job = os.fork()
    if job == 0:
        os.read(wait, 1)
        os.execvp(sys.argv[1], sys.argv[1:])
    os.setpgid(job, job)
    os.tcsetpgrp(0, job)
    os.write(go, b"!")
    status = os.waitpid(job, os.WUNTRACED)[1]
    if os.WIFSTOPPED(status):
        target = open(f"/proc/{job}/task/{job}/children").read().strip()
        state = open(f"/proc/{target}/stat").read().rsplit(")")[1].split()[0]
        print("stopped with the target in state", state)
        os.killpg(job, signal.SIGCONT)
        os.kill(int(target), signal.SIGUSR1)
        status = os.waitpid(job, os.WUNTRACED)[1]
    print("status", os.waitstatus_to_exitcode(status), flush=True)
    os._exit(0)
seen, sent = b"", False
while True:
    try:
        seen += os.read(terminal, 4096)
    except OSError:
        break
    if b"ready" in seen and not sent:
        os.write(terminal, b"\x1a")
        sent = True
os.write(1, seen)
END
for source in sim clock; do
        python3 stop.py "$MEMLAG" record --source $source -o stop-$source.db -- ./busy >out
        grep -q 'stopped with the target in state T' out && grep -q 'status 42' out ||
                fail "Ctrl-Z, $source: $(cat out)"
done
python3 stop.py "$MEMLAG" record --source clock -o ignored.db -- \
        sh -c "trap '' TSTP; exec ./busy 20" >out
! grep -q stopped out && grep -q 'status 0' out || fail "Ctrl-Z that is ignored: $(cat out)"

# ---- Ctrl-C at any moment of the start: a message, or a whole recording ----
for delay in 0.001 0.003 0.005 0.007 0.01 0.013 0.016 0.02 0.03 0.05 0.08 0.12; do
        rm -f early.db*
        status=0
        python3 terminal.py $delay "$MEMLAG" record $SIM -o early.db -- ./busy >out 2>err || status=$?
        if [ $status -eq 254 ]; then
                [ ! -e early.db ] || fail "Ctrl-C after $delay s: a database is left"
                continue # memlag itself had not begun to wait for signals
        fi
        [ $status -eq 130 ] || fail "Ctrl-C after $delay s: status $status: $(cat out err)"
        if [ -e early.db ]; then
                holds early.db complete "SELECT value FROM run WHERE key = 'state'"
                holds early.db 1 'SELECT count(*) > 0 FROM process'
        else
                [ "$(grep -c 'nothing was recorded' out)" -eq 1 ] ||
                        fail "Ctrl-C after $delay s: nothing is said: $(cat out)"
                lacks 'failed' out
        fi
done

# ---- memlag is killed: the target runs on, the database has the rows written so far ----
"$MEMLAG" record $SIM -o killed.db -- ./busy >killed.out 2>err &
memlag=$!
until_true has_samples killed.db 100
target=$(cat /proc/$memlag/task/$memlag/children)
kill -KILL $memlag
wait $memlag || true
kill -0 $target || fail "the target ended with memlag"
holds killed.db ok 'PRAGMA integrity_check'
holds killed.db recording "SELECT value FROM run WHERE key = 'state'"
"$MEMLAG" report -v killed.db >report 2>err || fail "report: $(cat err)"
says 'cut off' report
lacks '0 records lost' report
holds killed.db 1 "SELECT value IS NULL FROM run_info WHERE key = 'lost'"
kill -USR1 $target
until_true [ ! -e /proc/${target% } ]

# ---- a full disk: the target runs on, the status says that the recording is not whole ----
# Room for a slice of the simulated PMU (4 MB), not for the recording.
(
        ulimit -S -f 2048 2>/dev/null || ulimit -f 12288
        ends 1 "$MEMLAG" record $SIM --period 2 -o full.db -- ./busy 3 >out
)
grep -qx ready out || fail "full disk: the target said: $(cat out)"
# Besides the lines about the model at each start.
[ "$(grep -vc -e 'all numbers are modelled' -e ': the model is ' err)" -eq 1 ] ||
        fail "not one line on the full disk: $(cat err)"
says 'goes on without being recorded'
holds full.db ok 'PRAGMA integrity_check'

# why, in the database and in the report; and how the target ended all the same
kept_reason()
{
        holds "$1" interrupted "SELECT value FROM run WHERE key = 'state'"
        holds "$1" 0 "SELECT value FROM run WHERE key = 'exit_status'"
        answer "$1" "SELECT value FROM run WHERE key = 'failure'" >reason
        says "$2" reason
        "$MEMLAG" report -v "$1" >report 2>report.err || fail "$1: $(cat report.err)"
        says '^A part of the run is missing: cannot write' report
        says '^Missing:$' report
}
kept_reason full.db 'File too large'

# ---- the same on a file system that has no room left ----
if unshare -rm true 2>/dev/null; then
        mkdir -p small
        export MEMLAG
        unshare -rm sh -eu -c '
                mount -t tmpfs -o size=2m tmpfs small
                "$MEMLAG" record $SIM --period 2 -o small/full.db -- ./busy 1 >out 2>err &&
                        exit 1
                ls -A small >files
                rm -f full.db*
                cp small/full.db* .' || fail "no room: $(cat err)"
        kept_reason full.db 'no space left on the device'
        # The rows that fit are in the file itself; only the last ones are lost, and counted.
        [ "$(cat files)" = full.db ] || fail "no room: beside the file: $(cat files)"
        holds full.db 1 'SELECT page_count * page_size > 1048576 FROM pragma_page_count, pragma_page_size'
        holds full.db ok 'PRAGMA integrity_check'
        holds full.db 1 "SELECT value BETWEEN 1 AND 999 FROM ledger WHERE kind LIKE '%taken back%'"
else
        echo "record_interrupted: SKIPPED a full file system: no mount namespace may be made" >&2
fi
