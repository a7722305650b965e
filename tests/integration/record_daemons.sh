#!/bin/sh
# SPDX-License-Identifier: MIT
# A command ends while its processes live on: memlag reports their number, or records them to their
# end, under the simulated PMU and a timer.
. "$SOURCE_DIR/tests/integration/library.sh"

# A daemon like a server's: forked twice, in a new session, without any descriptor. Its parent ends
# with 5. It works for a while, and at the end writes to DONE.
program daemon <<'EOT'
static int work(char **argv)
{
        static volatile char field[1 << 22];
        for (int fd = 0; fd < 1024; fd++)
                close(fd);
        int go = open(argv[1], O_RDONLY); /* until the test lets it go on */
        char byte;
        while (read(go, &byte, 1) > 0)
                ;
        close(go);
        for (long i = 0; i < atol(argv[3]); i++)
                field[i * 4099 % sizeof(field)]++;
        return close(open(argv[2], O_CREAT | O_WRONLY, 0644));
}
int main(int argc, char **argv)
{
        if (argc != 4)
                return 2;
        if (fork() == 0) {
                setsid();
                if (fork() == 0)
                        _exit(work(argv));
                _exit(0);
        }
        wait(NULL);
        return 5;
}
EOT
mkfifo go

for source in sim clock; do
        rounds=2000000
        [ $source = sim ] || rounds=40000000
        rm -f done
        # ---- without --wait: recording ends with the command, the daemon goes on ----
        refuses 5 '^memlag record: 1 process of the command lives on.*--wait' \
                "$MEMLAG" record --source $source -o $source-left.db -- ./daemon go done $rounds
        holds $source-left.db 1 "SELECT value FROM ledger WHERE stage = 'record'
                                  AND kind = 'processes left running'"
        echo >go
        until_true [ -e done ]

        # ---- with it: until the daemon has ended, with its work ----
        rm -f done
        echo >go & # as soon as the daemon reads
        ends 5 "$MEMLAG" record --wait --source $source -o $source.db -- ./daemon go done $rounds
        [ -e done ] || fail "$source: memlag did not wait"
        wait
        lacks 'lives on'
        holds $source.db 0 "SELECT count(*) FROM ledger WHERE kind = 'processes left running'"
        holds $source.db 5 "SELECT value FROM run WHERE key = 'exit_status'"
        holds $source.db 0 'SELECT count(*) FROM process WHERE end_ns IS NULL'
        holds $source.db 1 "SELECT count(*) > 50 FROM sample_view WHERE function = 'work'"

        # ---- a signal ends the waiting; the daemon is not its target ----
        rm -f done
        : >err # of the run before, which ended, too
        "$MEMLAG" record --wait --source $source -o $source-stopped.db -- ./daemon go done $rounds 2>err &
        recorder=$!
        until_true grep -q 'the command has ended' err
        kill -INT $recorder
        ended 5 $recorder
        says '1 process of the command lives on'
        echo >go
        until_true [ -e done ]

        # ---- nothing is left: --wait changes nothing ----
        ends 0 "$MEMLAG" record --wait --source $source -o $source-none.db -- sh -c 'true; true'
        lacks 'the command has ended'
done

ends 2 "$MEMLAG" record --wait --source clock -p $$
ends 2 "$MEMLAG" record --wait --source clock -a -- true
