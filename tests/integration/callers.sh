#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag report --by caller: one function that waits, called by two others three times as
# often by one as by the other, once through a function that is inlined.
set -eu

fail()
{
        echo "callers.sh: $*" >&2
        exit 1
}

cat >tree.c <<'END_C'
#include <stdlib.h>
struct node { struct node *next; long pad[30]; };
static struct node *build(size_t n)
{
        struct node *nodes = malloc(n * sizeof(*nodes));
        for (size_t i = 0; i < n; i++)
                nodes[i].next = &nodes[(i * 7919 + 13) % n];
        return nodes;
}
__attribute__((noinline)) static struct node *chase(struct node *at, long steps)
{
        while (steps--)
                at = at->next;
        return at;
}
static inline __attribute__((always_inline)) struct node *thrice(struct node *at)
{
        return chase(at, 300000)->next;
}
__attribute__((noinline)) static struct node *often(struct node *at)
{
        return thrice(at)->next;
}
__attribute__((noinline)) static struct node *rarely(struct node *at)
{
        return chase(at, 100000)->next;
}
int main(void)
{
        return !rarely(often(build(200003)));
}
END_C
"$CC" -g -O1 -o tree tree.c
"$MEMLAG" record --source sim -o t.db -- ./tree >record.out
"$MEMLAG" report --by caller --format csv t.db >t.csv
"$MEMLAG" report --by caller t.db | grep -q '^ *[0-9.]*% .*    often$' || fail "no tree"

python3 - <<'END_PYTHON' || exit 1
import csv
import sqlite3
import sys

rows = {row["caller_id"]: row for row in csv.DictReader(open("t.csv"))}


def path(row):
    above = path(rows[row["parent_id"]]) if row["parent_id"] else []
    return above + [row["function"]]


def samples(*wanted):
    found = [int(row["samples"]) for row in rows.values()
             if path(row)[-len(wanted):] == list(wanted)]
    if len(found) != 1:
        sys.exit(f"{len(found)} paths end in {wanted}")
    return found[0]


often = samples("main", "often", "thrice", "chase")
rarely = samples("main", "rarely", "chase")
if rarely < 100 or not 2.6 < often / rarely < 3.4:
    sys.exit(f"{often} samples where there should be three times {rarely}")

# Every memory sample is in the tree once, and each function has what it calls.
total = int(sqlite3.connect("t.db").execute(
    "SELECT value FROM run_info WHERE key = 'memory_samples'").fetchone()[0])
if sum(int(row["self_samples"]) for row in rows.values()) != total:
    sys.exit("the tree does not hold all samples")
db = sqlite3.connect("t.db")
whole = db.execute("SELECT count(*) FROM sample").fetchone()
for subject in ("line", "function", "stack", "object", "type"):
    if db.execute("SELECT sum(samples) FROM resolution WHERE subject = ?",
                  (subject,)).fetchone() != whole:
        sys.exit(f"not every sample's {subject} is accounted for")
for caller_id, row in rows.items():
    below = sum(int(other["samples"]) for other in rows.values()
                if other["parent_id"] == caller_id)
    if int(row["samples"]) != int(row["self_samples"]) + below:
        sys.exit(f"row {caller_id} is not the sum of what it calls")
    if row["parent_id"] and not int(row["parent_id"]) < int(caller_id):
        sys.exit("a caller comes after what it calls")
END_PYTHON
