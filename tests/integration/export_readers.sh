#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag export --format speedscope and firefox, read by speedscope and by the Firefox
# Profiler, which tests/run.sh installs with npm.
. "$SOURCE_DIR/tests/integration/library.sh"

readers=$BINARY_DIR/readers
python=/usr/bin/python3 # Debian's, which has Debian's selenium
{ [ -d "$readers/node_modules/speedscope" ] &&
        node "$readers/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" --version; } ||
        { echo "export_readers: skipped: no speedscope and profiler-cli in $readers (tests/run.sh, with npm)" && exit 77; }
command -v chromium >/dev/null && command -v chromedriver >/dev/null && $python -c 'import selenium' ||
        { echo "export_readers: skipped: no chromium, chromium-driver or python3-selenium" && exit 77; }

cat >calls.c <<'END_C'
#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; long pad[30]; };
static struct node *nodes;
__attribute__((noinline)) static struct node *chase(struct node *at, long steps)
{
        while (steps--)
                at = at->next;
        return at;
}
__attribute__((noinline)) static struct node *descend(struct node *at, int depth)
{
        at = chase(at, 8000);
        return depth ? descend(at, depth - 1)->next : at;
}
static void *work(void *from)
{
        return chase(descend(from, 3), 20000);
}
int main(void)
{
        pthread_t other;
        size_t n = 20011;
        nodes = malloc(n * sizeof(*nodes));
        for (size_t i = 0; i < n; i++)
                nodes[i].next = &nodes[(i * 7919 + 13) % n];
        pthread_create(&other, NULL, work, nodes + 7);
        work(nodes);
        return pthread_join(other, NULL);
}
END_C
"$CC" -g -O1 -fno-optimize-sibling-calls -pthread -o calls calls.c
# shellcheck disable=SC2086
"$MEMLAG" record $SIM -o calls.db -- ./calls 2>record.err
$python "$SOURCE_DIR/tests/integration/export_readers.py" "$MEMLAG" "$readers" calls.db
