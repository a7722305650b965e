#!/bin/bash
# SPDX-License-Identifier: MIT
# record's messages, file and status in bad conditions: a reader that closes, a long name, a file
# that is replaced or removed, a Valgrind that dies.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

record="$MEMLAG record --source sim --no-heap"

# ---- who reads the messages goes: status and findings are there ----
{ $record -o piped.db -- sh -c 'exit 7' 2>&1 || echo $? >status; } | head -n 1 >/dev/null
[ "$(cat status)" = 7 ] || fail "messages without a reader: status $(cat status)"
holds piped.db complete "SELECT value FROM run WHERE key = 'state'"
holds piped.db 1 'SELECT count(*) > 0 FROM line_finding'

# ---- a name that leaves SQLite no room for its suffixes ----
name=$(printf 'n%.0s' {1..250})
refuses 1 'longer than 247 bytes' $record -o "$name" -- true
[ ! -e "$name" ] || fail "a name of 250 bytes leaves a file"

# ---- --force keeps the mode ----
chmod 640 piped.db
$record --force -o piped.db -- true 2>err || fail "--force: $(cat err)"
[ "$(stat -c %a piped.db)" = 640 ] || fail "--force changes the mode to $(stat -c %a piped.db)"

# A file that its owner could not write would be replaced by one that nobody could fill.
chmod 440 piped.db
$record --force -o piped.db -- true 2>err || fail "--force, read-only: $(cat err)"
[ "$(stat -c %a piped.db)" = 640 ] || fail "--force, read-only: mode $(stat -c %a piped.db)"

# ---- a database that is removed ----
refuses 4 'removed.db was removed or replaced' $record -o removed.db -- sh -c 'rm removed.db; exit 4'

# ---- an engine that dies is a signal, for the target's parent too ----
# The program overwrites Valgrind's own memory, which begins at 0x1000000000.
program engine <<'END'
int main(int argc, char **argv)
{
        int status = 0;
        if (argc > 1) {
                if (fork() == 0)
                        execl(argv[0], argv[0], (char *)0);
                wait(&status);
                return WIFSIGNALED(status) ? 9 : 1;
        }
        FILE *maps = fopen("/proc/self/maps", "r");
        char line[512], rights[5];
        for (unsigned long from, to; fgets(line, sizeof(line), maps);)
                if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 &&
                    from >= 0x1000000000 && to < 0x1100000000 && rights[1] == 'w' && rights[3] == 'p')
                        memset((void *)from, 0xff, to - from);
        return 0;
}
END
status=0
$record -o engine.db -- ./engine >out 2>err || status=$?
[ $status -gt 128 ] || fail "a dead engine: status $status: $(cat err)"
ends 9 $record -o engines.db -- ./engine child >out
