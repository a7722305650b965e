#!/bin/sh
# SPDX-License-Identifier: MIT
# A program with thousands of threads that are all ready at once ends in reasonable time,
# and every thread is in the database.
set -eu

cat >crowd.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;

static void *wait_for_all(void *unused)
{
        (void)unused;
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
"${CC:-cc}" -O2 -pthread crowd.c -o crowd

# Natively this takes less than a second; with a search through all threads at each meeting
# it would take many minutes.
out=$(timeout 120 "$MEMLAG" record --source sim -o crowd.db -- ./crowd 2>err) ||
        { cat err >&2; exit 1; }
[ "$out" = all ]
threads=$(sqlite3 crowd.db "SELECT count(*) FROM thread")
[ "$threads" -eq 2501 ] || { echo "$threads threads in the database" >&2; exit 1; }
