#!/bin/sh
# SPDX-License-Identifier: MIT
# What all sources share that use perf events, on the kernel's page faults and timer: each
# touched page is one sample, with its address and in the right process and thread; and
# perf record sees the same on the same program.
. "$SOURCE_DIR/tests/integration/library.sh"

perf=$(command -v perf || true)
if ! perf_reason=$("$BINARY_DIR"/bin/fault_record probe.db 8 /bin/true 2>&1); then
        skip "$perf_reason"
fi

cat >family.c <<'END'
/* Touches pages at addresses of its own: main, three threads, a forked child that writes
 * to its copy, and the program that the child becomes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#define AREA(n) ((char *)(0x100000000000 + (n) * 0x1000000000))
static void touch(int area, int pages, int map)
{
        if (map) {
                mmap(AREA(area), (size_t)pages << 12, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
                madvise(AREA(area), (size_t)pages << 12, MADV_NOHUGEPAGE);
        }
        for (int i = 0; i < pages; i++)
                AREA(area)[((size_t)i << 12) + i % 4096] = 1;
}
static void *run(void *number)
{
        int n = *(int *)number;
        char name[] = "thread-0";
        name[7] += n;
        prctl(PR_SET_NAME, name);
        touch(n, 100 * n, 1);
        return NULL;
}
int main(int argc, char **argv)
{
        int many = argc > 2 ? atoi(argv[2]) : 0;
        if (argc > 1 && strcmp(argv[1], "second") == 0) {
                touch(5, 70, 1);
                return 5;
        }
        touch(4, many ? many : 400, 1);
        if (many)
                return 0;
        pthread_t threads[3];
        int numbers[] = {1, 2, 3};
        for (int i = 0; i < 3; i++)
                pthread_create(&threads[i], NULL, run, &numbers[i]);
        for (int i = 0; i < 3; i++)
                pthread_join(threads[i], NULL);
        int status;
        pid_t child = fork();
        if (child == 0) {
                touch(4, 50, 0);
                execl("./second", "second", "second", (char *)NULL);
        }
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
}
END
"$CC" -O1 -g -pthread -o family family.c
cp family second
cat >expected <<'END'
family 4 450
second 5 70
thread-1 1 100
thread-2 2 200
thread-3 3 300
END

# ---- page faults ----------------------------------------------------------------------

# Command, area and number of faults in it.
counts_of()
{
        answer "$1" "SELECT name, (addr - 0x100000000000) / 0x1000000000 AS area, count(*)
                FROM sample JOIN thread USING (thread_id)
                WHERE addr BETWEEN 0x100000000000 AND 0x10ffffffffff
                GROUP BY name, area ORDER BY name" | tr '|' ' '
}

status=0
"$BINARY_DIR"/bin/fault_record faults.db 0 ./family || status=$?
expect "the target's status" $status 5
counts_of faults.db >counts
cmp -s counts expected || fail "faults by thread: $(cat counts)"
expect "nothing missing" "$(answer faults.db 'SELECT count(*) FROM ledger')" 0
expect "each address once a process" "$(answer faults.db "
        SELECT count(*) FROM (SELECT 1 FROM sample JOIN thread USING (thread_id)
        WHERE addr BETWEEN 0x100000000000 AND 0x10ffffffffff
        GROUP BY process_id, addr / 4096 HAVING count(*) > 1)")" 0
expect "images" "$(answer faults.db "SELECT group_concat(replace(executable,
        rtrim(executable, replace(executable, '/', '')), ''), ' ') FROM process")" \
        "family second"
expect "the forked child's copy" "$(answer faults.db "SELECT count(*) FROM sample
        JOIN thread USING (thread_id) JOIN process AS child USING (process_id)
        WHERE child.executable IS NULL AND child.parent_process_id = 1
        AND addr BETWEEN 0x104000000000 AND 0x104fffffffff")" 50
# Every sample is in a mapping that was in force: code of a file, data of any kind.
expect "samples out of all mappings" "$(answer faults.db "SELECT count(*) FROM sample AS s
        JOIN thread AS t USING (thread_id) WHERE NOT EXISTS (SELECT 1 FROM mapping AS m
        WHERE m.process_id = t.process_id AND s.ip - m.start_addr BETWEEN 0
        AND m.length_bytes - 1 AND m.start_ns <= s.time_ns
        AND coalesce(m.end_ns, s.time_ns) >= s.time_ns AND m.module_id IS NOT NULL)")" 0

if [ -n "$perf" ]; then
        "$perf" record -q -c 1 -d -e page-faults:u -o faults.data ./family >/dev/null 2>&1 || true
        "$perf" script -i faults.data -F comm,addr 2>/dev/null | awk '
                length($2) == 12 && $2 ~ /^10[1-5]/ { n[$1 " " substr($2, 3, 1)]++ }
                END { for (i in n) print i, n[i] }' | sort >by_perf
        cmp -s by_perf expected || fail "perf saw other faults: $(cat by_perf)"
        # The same files at the same time: what perf's records say was mapped.
        "$perf" script -i faults.data --show-mmap-events 2>/dev/null |
                sed -n 's/.*MMAP2.* \(\/[^ ]*\)$/\1/p' | grep -v '^//' | sort -u >files_by_perf
        answer faults.db "SELECT DISTINCT path FROM module WHERE path LIKE '/%' ORDER BY path" \
                >files
        cmp -s files files_by_perf || fail "other files mapped: $(diff files files_by_perf)"
else
        echo "SKIPPED: record_perf: no perf to compare with"
fi

# A ring that is much too small: what is stored and what is counted as lost make all.
"$BINARY_DIR"/bin/fault_record small.db 1 ./family first 20000
stored=$(answer small.db "SELECT count(*) FROM sample
        WHERE addr BETWEEN 0x104000000000 AND 0x104fffffffff")
lost=$(answer small.db "SELECT coalesce(sum(value), 0) FROM ledger WHERE kind = 'records lost'")
[ "$lost" -gt 0 ] || fail "a ring of one page lost nothing"
[ $((stored + lost)) -ge 20000 ] || fail "stored $stored, lost $lost, of 20000"
[ $((stored + lost)) -le 20200 ] || fail "stored $stored, lost $lost, more than there were"

# ---- the timer ------------------------------------------------------------------------

cat >busy.c <<'END'
/* Two threads and a child that is another program, each busy for a while. */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void *work(void *unused)
{
        struct timespec now;
        do {
                for (volatile int i = 0; i < 100000; i++)
                        ;
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        } while (now.tv_nsec < 300000000 && now.tv_sec == 0);
        return unused;
}
int main(int argc, char **argv)
{
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        work(argv);
        pthread_join(thread, NULL);
        if (argc == 1 && fork() == 0)
                execl("./other", "other", "x", (char *)NULL);
        wait(NULL);
        return 0;
}
END
"$CC" -O1 -g -pthread -o busy busy.c
cp busy other
"$MEMLAG" record -o timer.db --source clock --freq 2000 --no-heap -- ./busy 2>err || fail "$(cat err)"
# Four threads of 0.3 s at 2000 Hz, two of each program; perf's way of counting is the
# measure of what the machine gives.
for program in busy other; do
        expect "threads of $program" "$(answer timer.db "SELECT count(*) FROM thread WHERE
                name = '$program' AND thread_id IN (SELECT thread_id FROM sample)")" 2
done
if [ -n "$perf" ]; then
        "$perf" record -q -c 500000 -e cpu-clock:u -o timer.data ./busy >/dev/null 2>&1
        for program in busy other; do
                ours=$(answer timer.db "SELECT count(*) FROM sample JOIN thread USING (thread_id)
                        WHERE name = '$program'")
                theirs=$("$perf" script -i timer.data -F comm 2>/dev/null | grep -c "^ *$program")
                awk -v a="$ours" -v b="$theirs" 'BEGIN { exit !(a > 0.8 * b && a < 1.25 * b) }' ||
                        fail "$program: $ours samples, perf has $theirs"
        done
fi
