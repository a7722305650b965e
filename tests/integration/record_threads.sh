#!/bin/sh
# SPDX-License-Identifier: MIT
# A program with thousands of threads that are all ready at once ends in reasonable time,
# and every thread is in the database.
. "$SOURCE_DIR/tests/integration/library.sh"

program crowd -O2 <<'EOF'
static pthread_barrier_t barrier;

static void *wait_for_all(void *unused)
{
        pthread_barrier_wait(&barrier);
        return NULL;
}

int main(void)
{
        enum { COUNT = 2500 };
        pthread_t *threads = calloc(COUNT, sizeof(*threads));
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 65536);
        pthread_barrier_init(&barrier, NULL, COUNT + 1);
        for (int i = 0; i < COUNT; i++)
                if (pthread_create(&threads[i], &attributes, wait_for_all, NULL))
                        return 1;
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < COUNT; i++)
                pthread_join(threads[i], NULL);
        puts("all");
        return 0;
}
EOF

# Natively this takes less than a second; with a search through all threads at each meeting
# it would take many minutes.
ends 0 timeout 600 "$MEMLAG" record $SIM -o crowd.db -- ./crowd >out
expect "what the program says" "$(cat out)" all
holds crowd.db 2501 "SELECT count(*) FROM thread"

# Threads that work side by side do so in the model too, although the machine lets one wait for a
# processor. Here the second thread has the lowest priority on a busy CPU. It loses the CPU when it
# comes to the barrier, or does not get it back after.
program side_by_side <<'EOF'
enum { WORDS = 1 << 18, PASSES = 2 }; /* beyond L2 */

static pthread_barrier_t barrier;
static volatile long sink;

static __attribute__((noinline)) long sum_words(const volatile long *words)
{
        long sum = 0;
        for (int pass = 0; pass < PASSES; pass++)
                for (int i = 0; i < WORDS; i++)
                        sum += words[i];
        return sum;
}

static void *read_words(void *late)
{
        long *words = calloc(WORDS, sizeof(*words));
        if (!words || (late && setpriority(PRIO_PROCESS, (id_t)gettid(), 19) != 0))
                exit(1);
        for (int i = 0; i < WORDS; i++)
                words[i] = i; /* pages of their own */
        pthread_barrier_wait(&barrier);
        sink = sum_words(words);
        return NULL;
}

int main(void)
{
        pthread_t thread;
        pthread_barrier_init(&barrier, NULL, 2);
        pthread_create(&thread, NULL, read_words, &thread);
        read_words(NULL);
        return pthread_join(thread, NULL);
}
EOF
work=
trap '[ -z "$work" ] || kill "$work" 2>/dev/null || true' EXIT
cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
for turn in 1 2 3; do
        taskset -c "$cpu" timeout 100 sh -c 'while :; do :; done' &
        work=$!
        ends 0 taskset -c "$cpu" "$MEMLAG" record $SIM --force -o side.db --period 50 -- ./side_by_side >out
        kill "$work"
        wait "$work" || true
        # Side by side for most of the time.
        holds side.db "1|1" "SELECT count(*) = 2 AND min(samples) > 100,
                1.0 * (min(last) - max(first)) / (max(last) - min(first)) >= 0.7
                FROM (SELECT count(*) AS samples, min(time_ns) AS first, max(time_ns) AS last
                      FROM sample_view WHERE function = 'sum_words' GROUP BY tid)"
done

# A thread that yields does not sleep: two threads that only yield until it is their turn use
# two CPUs all the time.
program yielding <<'EOF'
#include <stdatomic.h>

static atomic_int turn;

static void *take_turns(void *second)
{
        const int own = second != NULL;
        for (int i = 0; i < 2000; i++) {
                while (atomic_load(&turn) != own)
                        sched_yield();
                atomic_store(&turn, !own);
        }
        return NULL;
}

int main(void)
{
        pthread_t thread;
        pthread_create(&thread, NULL, take_turns, &thread);
        take_turns(NULL);
        return pthread_join(thread, NULL);
}
EOF
ends 0 timeout 600 "$MEMLAG" record $SIM --no-heap -o yielding.db -- ./yielding >out
holds yielding.db 1 "SELECT sum(value) * 1000.0 / ((SELECT value FROM machine WHERE key = 'clock_mhz')
        * (SELECT value FROM run_info WHERE key = 'duration_ns')) >= 1.5
        FROM reading JOIN counter USING (counter_id) WHERE name = 'cpu_clk_unhalted.thread'"

# Names that a thread gives itself, gets from its creator, or takes in a child. A thread without a
# name has its creator's.
cat >names.c <<'EOF'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t named;

static void *run(void *name)
{
        if (name)
                pthread_setname_np(pthread_self(), name);
        pthread_barrier_wait(&named);
        return NULL;
}

int main(void)
{
        static char own[] = "own name";
        pthread_t threads[3];
        pthread_barrier_init(&named, NULL, 4);
        if (fork() == 0)
                _exit(prctl(PR_SET_NAME, "(child)"));
        wait(NULL);
        for (int i = 0; i < 3; i++)
                pthread_create(&threads[i], NULL, run, i == 0 ? own : NULL);
        if (pthread_setname_np(threads[1], "by its creator"))
                return 1;
        pthread_barrier_wait(&named);
        for (int i = 0; i < 3; i++)
                pthread_join(threads[i], NULL);
        return 0;
}
EOF
"${CC:-cc}" -O1 -pthread names.c -o names
ends 0 "$MEMLAG" record $SIM -o names.db -- ./names >out
holds names.db "(child),by its creator,names,names,own name" "SELECT group_concat(name)
        FROM (SELECT name FROM thread ORDER BY name)"
holds names.db "(child)" "SELECT name FROM process_view WHERE parent_pid IS NOT NULL"
ends 1 "$MEMLAG" report --thread unheard-of names.db
says unheard-of
ends 0 "$MEMLAG" report --thread 'own*' names.db >out
