#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag export: the paths and sums of the calling-context tree as collapsed stacks, held to
# the tree by its parents; and the file for callgrind, held to the tree by what
# callgrind_annotate reads in it, with a function that calls itself.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >tree.c <<'END_C'
#include <stdlib.h>
struct node { struct node *next; long pad[30]; };
__attribute__((noinline)) static struct node *chase(struct node *at, long steps)
{
        while (steps--)
                at = at->next;
        return at;
}
__attribute__((noinline)) static struct node *descend(struct node *at, int depth)
{
        at = chase(at, 20000);
        return depth ? descend(at, depth - 1)->next : at;
}
int main(void)
{
        size_t n = 100003;
        struct node *nodes = malloc(n * sizeof(*nodes));
        for (size_t i = 0; i < n; i++)
                nodes[i].next = &nodes[(i * 7919 + 13) % n];
        return !chase(descend(nodes, 9), 100000);
}
END_C
"$CC" -g -O1 -fno-optimize-sibling-calls -o tree tree.c
"$MEMLAG" record $SIM -o t.db -- ./tree 2>record.err
"$MEMLAG" export t.db >stalled.folded
"$MEMLAG" export --weight samples -i t.db >samples.folded
"$MEMLAG" export --format callgrind t.db >t.callgrind
callgrind_annotate --inclusive=yes --threshold=100 t.callgrind >annotated 2>annotate.err ||
        fail "callgrind_annotate: $(cat annotate.err)"
[ -s annotate.err ] && fail "callgrind_annotate: $(cat annotate.err)"

python3 - <<'END_PYTHON' || exit 1
import collections
import re
import sqlite3
import sys

db = sqlite3.connect("t.db")
rows = db.execute(
    "SELECT caller_id, parent_id, function, samples, self_samples, self_stalled_ratio"
    " FROM caller_view").fetchall()
parent = {row[0]: row[1] for row in rows}
name = {row[0]: row[2] for row in rows}


def path(caller):
    return path(parent[caller]) + [name[caller]] if caller else []


def folded(file):
    with open(file) as lines:
        for line in lines:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            root, *steps = stack.split(";")
            if not root.startswith("modelled by the simulated PMU (skylake-sp)"):
                sys.exit(f"export.sh: {file}: a stack begins with {root}")
            yield ";".join(steps), int(weight)


for file, column, unit in (("samples.folded", 4, 1), ("stalled.folded", 5, 1e6)):
    expected = collections.Counter()
    for row in rows:
        weight = round((row[column] or 0) * unit)
        if weight and all(path(row[0])):
            expected[";".join(path(row[0]))] += weight
    found = collections.Counter()
    for stack, weight in folded(file):
        if "[" not in stack and "+0x" not in stack:  # of functions without a name
            found[stack] += weight
    if found != expected or not found:
        sys.exit(f"export.sh: {file}: {found} for {expected}")

# Each path counts at its first call of a function: descend calls itself nine times.
inclusive = collections.Counter()
for caller, _, function, samples, *_ in rows:
    if function and function not in path(parent[caller]):
        inclusive[function] += samples
with open("annotated") as lines:
    text = lines.read()
def counts(label):
    match = re.search(r"^((?: *[\d,]+ \([ \d.]+%\))+)  \S*" + label, text, re.MULTILINE)
    if not match:
        sys.exit(f"export.sh: no {label} in\n{text}")
    return [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) \(", match[1])]
total = db.execute("SELECT value FROM run_info WHERE key = 'memory_samples'").fetchone()[0]
if counts("PROGRAM TOTALS")[-1] != int(total):
    sys.exit(f"export.sh: {counts('PROGRAM TOTALS')} samples of {total}")
for function in ("main", "descend", "chase"):
    found = counts(f":{function} ")[-1]
    # What a file for callgrind tells of a function that calls itself is its own cost and
    # that of its calls of others.
    expected = inclusive[function]
    if function == "descend":
        expected = sum(r[4] for r in rows if r[2] == "descend") + sum(
            r[3] for r in rows if name.get(r[1]) == "descend" and r[2] != "descend")
    if found != expected or not found:
        sys.exit(f"export.sh: {function}: {found} samples for {expected}")
END_PYTHON

python3 "$SOURCE_DIR/tests/integration/export.py" "$MEMLAG" t.db || fail "see above"

# What is not known is not drawn: a timer's samples have shares of time alone.
"$MEMLAG" record --source clock -o clock.db -- ./tree 2>record.err
"$MEMLAG" export --weight stalled clock.db >none 2>error && fail "stalled time out of nothing"
grep -q 'weight=stalled: the recording does not tell' error || fail "$(cat error)"
[ -s none ] && fail "a failed export has output"
"$MEMLAG" export clock.db >clock.folded
"$MEMLAG" export --weight latency clock.db | cmp - clock.folded || fail "not time by default"
grep -q '^measured by clock.*;chase [0-9]*$' clock.folded || fail "$(cat clock.folded)"
"$MEMLAG" export --format callgrind clock.db | grep -q '^events: Time Samples$' || fail "not a timer's events"

# What has no latency has samples; what has no samples is no picture.
cp clock.db bare.db
sqlite3 bare.db "UPDATE caller_finding SET self_latency_share = NULL, latency_share = NULL"
for weight in "" "--weight latency"; do
        # shellcheck disable=SC2086
        "$MEMLAG" export $weight bare.db >none 2>error && fail "time out of nothing"
        grep -q 'there is --weight=samples' error || fail "$(cat error)"
done
"$MEMLAG" export --weight samples bare.db | grep -q ';chase [0-9]*$' || fail "no samples"
sqlite3 bare.db "DELETE FROM caller_finding"
for format in folded callgrind svg speedscope firefox pprof; do
        "$MEMLAG" export --format $format bare.db >none 2>error && fail "nothing is drawn"
        grep -q 'bare.db has no samples of memory accesses' error || fail "$(cat error)"
        [ -s none ] && fail "nothing has output"
done
# Numbers beyond any sum.
cp t.db huge.db
sqlite3 huge.db "UPDATE caller_finding SET samples = 9223372036854775807, latency_share = 1e300"
for format in callgrind svg speedscope firefox pprof; do
        "$MEMLAG" export --format $format huge.db >/dev/null || fail "huge numbers: $format"
done

for wrong in "--weight heat" "--format png" "--format callgrind --weight samples" "--format pprof --weight samples" "t.db t.db" "-i t.db clock.db"; do
        # shellcheck disable=SC2086
        status=0
        "$MEMLAG" export $wrong >/dev/null 2>&1 || status=$?
        [ $status -eq 2 ] || fail "$wrong: status $status"
done
