#!/bin/sh
# SPDX-License-Identifier: MIT
# No process is lost between its parent's fork and its place in the database, or between two of its
# programs, for any scheduling. At least the ledger counts it.
. "$SOURCE_DIR/tests/integration/library.sh"

# ledger FILE: its lines of recording, "KIND|VALUE".
ledger()
{
        answer "$1" "SELECT kind, value FROM ledger WHERE stage = 'record'"
}

"$CC" -O1 -o hold_process "$SOURCE_DIR/tests/integration/hold_process.c"
hold()
{
        status=0
        rm -f caught
        ./hold_process "$@" 2>err || status=$?
        if [ $status -eq 77 ]; then
                echo "record_children: SKIPPED: processes cannot be traced here" >&2
                exit 77
        fi
        [ $status -eq 0 ] || fail "hold_process $*: status $status: $(cat err)"
}

# ---- a child that has not begun when its parent, and with it the recording, ends ----
hold fork hold 1 "$MEMLAG" record $SIM -o fork.db -- sh -c 'sleep 0.1 & :'
[ "$(ledger fork.db)" = "processes without records|1" ] || fail "fork: $(ledger fork.db)"
holds fork.db 1 'SELECT count(*) FROM process'
says '1 process without records'

# ---- a daemon's: its parent has ended before the command did ----
program daemon <<'EOF'
int main(void)
{
        if (fork() == 0)
                _exit(fork() < 0);
        wait(NULL);
        return 0;
}
EOF
hold fork hold 2 "$MEMLAG" record $SIM --no-heap -o daemon.db -- ./daemon
[ "$(ledger daemon.db)" = "processes without records|1" ] || fail "daemon: $(ledger daemon.db)"
holds daemon.db 2 'SELECT count(*) FROM process WHERE end_ns IS NOT NULL'

# ---- a child that is killed before it has begun, by vfork and by a clone without a signal ----
program killed <<'EOF'
int main(int argc, char **argv)
{
        int status;
        pid_t pid = argc > 1 ? (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0) : vfork();
        if (pid == 0)
                _exit(3);
        if (waitpid(pid, &status, __WALL) != pid)
                return 4;
        return !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
}
EOF
hold fork kill 1 "$MEMLAG" record $SIM --no-heap -o vfork.db -- ./killed
[ "$(ledger vfork.db)" = "processes without records|1" ] || fail "vfork: $(ledger vfork.db)"
hold fork kill 1 "$MEMLAG" record $SIM --no-heap -o clone.db -- ./killed clone
[ "$(ledger clone.db)" = "processes without records|1" ] || fail "clone: $(ledger clone.db)"

# ---- a process between two programs ----
hold exec hold 2 "$MEMLAG" record $SIM -o exec.db -- \
        sh -c 'sleep 0.1 & while [ ! -e caught ]; do :; done'
[ "$(ledger exec.db)" = "processes between two programs|1" ] || fail "exec: $(ledger exec.db)"

# ---- a fork or an exec that fails is none, and the next one is whole ----
program refused <<'EOF'
int main(void)
{
        struct rlimit none, before;
        if (getuid() == 0 && setuid(65534) != 0)
                return 2;
        getrlimit(RLIMIT_NPROC, &before);
        none = before;
        none.rlim_cur = 0;
        setrlimit(RLIMIT_NPROC, &none);
        if (fork() >= 0 || errno != EAGAIN)
                return 3;
        if (execl("/no/such/program", "program", (char *)0) != -1)
                return 4;
        setrlimit(RLIMIT_NPROC, &before);
        pid_t pid = fork();
        if (pid == 0)
                _exit(5);
        int status;
        if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5)
                return 6;
        setrlimit(RLIMIT_NPROC, &none);
        return fork() >= 0;
}
EOF
"$MEMLAG" record $SIM --no-heap -o refused.db -- ./refused 2>err || fail "refused: $(cat err)"
[ -z "$(ledger refused.db)" ] || fail "refused: $(ledger refused.db)"
holds refused.db 2 'SELECT count(*) FROM process WHERE end_ns IS NOT NULL'

# ---- a child that a signal ends, and children that end by themselves ----
"$MEMLAG" record $SIM --no-heap -o killed.db -- sh -c 'sh -c "kill -s SEGV \$\$"; sh -c "exit 3"; true' >out 2>err
[ "$(ledger killed.db)" = "processes ended by a signal|1" ] || fail "killed: $(ledger killed.db)"
says '1 process ended by a signal'
# Another message already covers the end of the command.
"$MEMLAG" record $SIM --no-heap -o own.db -- sh -c 'kill -s SEGV $$' >out 2>err || :
[ -z "$(ledger own.db)" ] || fail "own: $(ledger own.db)"
