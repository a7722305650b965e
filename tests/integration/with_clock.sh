#!/bin/sh
# SPDX-License-Identifier: MIT
# record --with-clock: a first run under timer samples beside the simulated one.
. "$SOURCE_DIR/tests/integration/library.sh"

record()
{
        "$MEMLAG" record --force --with-clock "$@" 2>err
}

"$MEMLAG" record --force -o probe.db --source clock -- true 2>err </dev/null || skip "$(cat err)"

# The measured shares equal the ones that the program reads from the kernel's clock.
"$CC" -O2 -g "$SOURCE_DIR/tests/integration/with_clock.c" -o with_clock
record --sim-cpu=skylake-sp -- ./with_clock >out </dev/null || fail "status $?: $(cat err)"
expect "runs" "$(wc -l <out)" 2
python out memlag.db "$SOURCE_DIR/tests/integration/with_clock.c" <<'PYTHON'
output, database, source = sys.argv[1:]
truth = [float(word) for word in open(output).readline().split()[:2]]
db = sqlite3.connect(f'file:{database}?mode=ro', uri=True)
text = open(source).read().split('\n')
spins = int(re.search(r'SPINS = (\d+)', '\n'.join(text)).group(1))


def line_of(comment):
    return 1 + next(i for i, line in enumerate(text) if line.endswith(f'/* {comment} */'))


def function(name):
    return db.execute('SELECT measured_ratio, measured_ratio_low, measured_ratio_high'
                      ' FROM function_clock_finding WHERE function = ?', (name,)).fetchone()


for name, share in zip(('chase', 'spin'), truth):
    measured, low, high = function(name)
    assert low < measured < high, name
    assert abs(measured - share) < 0.08, (name, measured, share)
# Each line has the times that the source gives it: one waits in both runs, one has time and no
# stall.
chase, = db.execute('SELECT measured_ratio FROM line_view WHERE function = ? AND line = ?',
                    ('chase', line_of('waits'))).fetchone()
assert chase > 0.6 * truth[0], (chase, truth)
unexplained = db.execute("SELECT DISTINCT function FROM line_measured_view"
                         " WHERE agreement = 'unexplained'").fetchall()
assert unexplained == [('spin',)], unexplained
compared, shared = db.execute("SELECT compared, shared FROM clock_agreement_finding"
                              " WHERE subject = 'line'").fetchone()
assert 2 <= shared == compared, (shared, compared)
# The model's time of a line is its stalls and its instructions; the rest of each is small.
modelled = dict(db.execute("SELECT function, sum(modelled_ratio) FROM line_measured_view"
                           " WHERE function IN ('chase', 'spin') GROUP BY 1"))
stalled, = db.execute("SELECT sum(stalled_ratio) FROM line_view WHERE function = 'chase'").fetchone()
assert stalled <= modelled['chase'] < stalled + 0.1, (stalled, modelled)
assert modelled['spin'] > 0.05, modelled
# Time without stalls is sampled by slots, four in a cycle: each iteration of spin waits three
# cycles for the multiplication before it, and one for the addition.
spun, = db.execute("SELECT sum(samples) FROM instruction_sample JOIN instruction_sample_location"
                   " USING (instruction_sample_id) JOIN location USING (location_id)"
                   " WHERE function = 'spin'").fetchone()
loop = spins * 4 * (3 + 1) / 50000
assert abs(spun / loop - 1) < 0.08, (spun, loop)
total, = db.execute('SELECT sum(samples) FROM clock_sample').fetchone()
assert total > 100, total
# All of the chase is in one block; the timer does not see page faults.
block, low, high = db.execute("SELECT measured_ratio, measured_ratio_low, measured_ratio_high"
                              " FROM object_view WHERE alloc_function = 'build'").fetchone()
assert low < block < high and abs(block - truth[0]) < 0.08, (low, block, high, truth)
faults = db.execute("SELECT count(*), count(measured_ratio) FROM object_view"
                    " WHERE samples = 0 AND page_faults > 0").fetchone()
assert faults[0] > 0 and faults[1] == 0, faults
# Modelled rows stay the model's alone.
assert db.execute("SELECT value FROM run WHERE key = 'numbers'").fetchone() == ('modelled',)
assert db.execute('SELECT count(*) FROM process').fetchone() == (1,)
assert db.execute('SELECT count(*) FROM sample WHERE stall_ns IS NOT NULL').fetchone() == (0,)
PYTHON

# The time after a wrong prediction is on the right path: on both paths of a branch that is wrong
# half of the time, and on neither if the same branch is never wrong.
"$CC" -O2 -g "$SOURCE_DIR/tests/integration/with_clock_guess.c" -o guess
for bits in random equal; do
        record -o $bits.db --sim-cpu skylake-sp --sim-set core.issue_width=4 \
                --sim-set branch.mispredict_cycles=20 -- ./guess $bits >out </dev/null ||
                fail "status $?: $(cat err)"
done
python "$SOURCE_DIR/tests/integration/with_clock_guess.c" <<'PYTHON'
WIDTH, CYCLES, CHAIN = 4, 20, 6
PERIOD, GUESSES, LOOKS = 50000, 5000000, 1000000
text = open(sys.argv[1]).read().split('\n')


def lines_of(comment):
    return [i for i, line in enumerate(text, 1) if line.endswith(f'/* {comment} */')]


def samples(bits, lines, function='guess'):
    db = sqlite3.connect(f'file:{bits}.db?mode=ro', uri=True)
    places = ', '.join('?' * len(lines))
    return db.execute(
        "SELECT total(samples) FROM instruction_sample JOIN instruction_sample_location"
        " USING (instruction_sample_id) JOIN location USING (location_id)"
        f" WHERE function = ? AND line IN ({places})", [function, *lines]).fetchone()[0]


# Three shifts and three exclusive ors wait for each other. Half of the random bits are guessed
# wrong, which costs time at the way that is taken.
loop = range(lines_of('shift')[0] - 1, lines_of('way')[1] + 1)
chained = samples('equal', loop) * PERIOD / GUESSES
assert abs(chained / (CHAIN * WIDTH) - 1) < 0.08, chained
guessed = [samples(bits, lines_of('way')) * PERIOD / GUESSES for bits in ('equal', 'random')]
assert abs((guessed[1] - guessed[0]) / (0.5 * CYCLES * WIDTH) - 1) < 0.1, guessed
# A timer that finds a return before it retires reports the instruction behind the call.
called = [samples(bits, lines_of('call'), 'ask') * PERIOD / LOOKS for bits in ('equal', 'random')]
assert abs((called[1] - called[0]) / (0.5 * CYCLES * WIDTH) - 1) < 0.2, called
# Until a wrong branch is decided the program waits for the latest load, not at the branch.
loaded, hit, decided = (samples('random', lines_of(each), 'look')
                        for each in ('load', 'hit', 'decide'))
assert loaded > 5 * decided > 0 and loaded > 3 * hit, (loaded, hit, decided)
PYTHON

# The report has the column, and JSON the figure; without a first run neither is there.
"$MEMLAG" report memlag.db --by function --format json >with.json
expect "rows without measured time" "$(as_json '[row for row in it["rows"] if row["measured_ratio"] is None]' <with.json)" '[]'
"$MEMLAG" report memlag.db --by function | grep -q '^ *measured  *stalled' || fail "no column"
"$MEMLAG" report memlag.db --by object | grep -q '^ *measured  *stalled' || fail "no column of objects"
"$MEMLAG" annotate -i memlag.db --format json chase spin >lines.json
python memlag.db lines.json <<'PYTHON'
db = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)
rows = [row for row in json.load(open(sys.argv[2]))['rows'] if row['kind'] == 'line']
told = {(row['function'], row['line']): row for row in rows}
assert {function for function, _ in told} == {'chase', 'spin'}, told.keys()
for function, line, ratio in db.execute(
        "SELECT function, line, measured_ratio FROM line_clock_finding"
        " WHERE samples > 0 AND function IN ('chase', 'spin')"):
    assert abs(told[function, line]['measured_ratio'] - ratio) < 1e-9, (function, line)
# A line that only computes has time and no samples.
spins = [row for row in rows if row['function'] == 'spin']
assert sum(row['measured_ratio'] for row in spins) > 0.05, spins
assert all(row['samples'] == 0 and row['stalled_ratio'] == 0 for row in spins), spins
PYTHON
"$MEMLAG" record --force -o alone.db -- true 2>err </dev/null
"$MEMLAG" report alone.db --by function | grep -q "^ *measured " && fail "a column without a first run"
holds alone.db 0 'SELECT (SELECT count(measured_ratio) FROM function_view)
                + (SELECT count(measured_ratio) FROM object_view)'

# diff has the CPU time of both first runs, and only where both have one.
measured_of()
{
        "$MEMLAG" diff --by run --format csv memlag.db "$1" 2>err | grep '^measured_cpu,' || true
}
cp memlag.db again.db
expect "what diff measured" "$(measured_of again.db | cut -d, -f3)" \
        "$(answer memlag.db "SELECT sum(value) FROM run WHERE key IN ('clock_user_ns', 'clock_kernel_ns')")"
expect "the ratio" "$(measured_of again.db | cut -d, -f5)" 1
expect "the ratio without a first run" "$(measured_of alone.db | cut -d, -f5)" ""

# By row as well: the same program in half of the CPU time.
sqlite3 again.db "UPDATE run SET value = value / 2 WHERE key IN ('clock_user_ns', 'clock_kernel_ns')"
for kind in line function object; do
        "$MEMLAG" diff --by $kind --top 0 --format json memlag.db again.db >diff.json 2>err
        python $kind <<'PYTHON'
kind = sys.argv[1]
db = sqlite3.connect('file:memlag.db?mode=ro', uri=True)
cpu, = db.execute("SELECT sum(value) FROM run WHERE key IN ('clock_user_ns', 'clock_kernel_ns')").fetchone()
ratio, = db.execute(f"SELECT max(measured_ratio) FROM {kind}_clock_finding").fetchone()
row = max(json.load(open('diff.json'))['rows'], key=lambda row: row['measured_before_ns'] or 0)
assert abs(row['measured_before_ns'] / (ratio * cpu) - 1) < 0.001, (row, ratio, cpu)
assert abs(row['measured_after_ns'] / row['measured_before_ns'] - 0.5) < 0.001, row
assert row['measured_difference_low_ns'] < row['measured_difference_ns'] < \
    row['measured_difference_high_ns'] < 0 == row['difference'], row
PYTHON
done
"$MEMLAG" diff memlag.db again.db 2>err | grep -q 'measured before' || fail "no measured time in diff"
"$MEMLAG" diff memlag.db alone.db 2>err | grep -q 'measured before' && fail "measured time of one run"

# Names and findings can be made again.
before=$(answer memlag.db 'SELECT * FROM line_clock_finding ORDER BY 1')
"$MEMLAG" symbolize --drop-names memlag.db 2>err || "$MEMLAG" symbolize memlag.db
"$MEMLAG" analyze memlag.db
holds memlag.db "$before" 'SELECT * FROM line_clock_finding ORDER BY 1'

# Standard input is the same for both runs, or the command does not run at all.
echo text >input
record -- cat <input >out
expect "input of both runs" "$(tr '\n' ' ' <out)" "text text "
rm -f memlag.db
echo text | record -- touch ran && fail "read a pipe twice"
[ ! -e ran ] && [ ! -e memlag.db ] || fail "ran with a pipe"
grep -q 'standard input' err || fail "no reason: $(cat err)"

# A first run that a signal ends is the last; the last run has the status.
echo kept >memlag.db
"$MEMLAG" record --with-clock -- touch ran 2>err </dev/null && fail "replaced a file"
[ ! -e ran ] || fail "ran before it saw the file"
rm memlag.db
ends 143 record -- sh -c 'echo run; kill -TERM $$' >out </dev/null
expect "runs of it" "$(wc -l <out)" 1
[ ! -e memlag.db ] || fail "a database of a run that failed"
ends 3 record -- sh -c 'echo run; exit 3' >out </dev/null
expect "runs of both" "$(wc -l <out)" 2
holds memlag.db 3 "SELECT value FROM run WHERE key = 'exit_status'"
ends 5 record -- sh -c '[ ! -e second ] || exit 5; touch second' </dev/null
# Code in no file has one row in both runs. A list of its names is the second run's alone: how
# much of the time each name had is not known then.
cat >made.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NODES = 1 << 20 };

int main(int argc, char **argv)
{
        /* 1: mov (%rdi),%rdi; dec %rsi; jnz 1b; ret */
        static const unsigned char bytes[] = {0x48, 0x8b, 0x3f, 0x48, 0xff, 0xce, 0x75, 0xf8, 0xc3};
        struct node {
                struct node *next;
                char rest[56];
        } *nodes = malloc(NODES * sizeof(*nodes));
        char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(code, bytes, sizeof(bytes));
        for (unsigned i = 0; i < NODES; i++)
                nodes[i].next = &nodes[(i * 1664525u + 1013904223u) % NODES];
        if (argc > 1) {
                char name[64];
                snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
                FILE *list = fopen(name, "w");
                fprintf(list, "%lx 10 %s\n", (long)code, argv[1]);
                fclose(list);
                puts(name);
        }
        ((void (*)(struct node *, long))code)(nodes, 2000000);
        return 0;
}
EOF
"$CC" -O1 -g -o made made.c
record -- ./made </dev/null || fail "status $?: $(cat err)"
holds memlag.db "[JIT code]|1|1|1" "SELECT function, module IS NULL,
        measured_ratio > 0.5, modelled_ratio > 0.5 FROM function_clock_finding
        ORDER BY measured_ratio DESC LIMIT 1"
holds memlag.db 1 "SELECT measured_ratio > 0.5 FROM line_view
        WHERE function = '[JIT code]'"
record -- ./made named_by_list >lists </dev/null || fail "status $?: $(cat err)"
xargs rm <lists
expect "code that a list names" "$(answer memlag.db "SELECT measured_ratio FROM function_view
        WHERE function = 'named_by_list'" | wc -w), $(answer memlag.db "SELECT count(*) FROM function_view
        WHERE function = 'named_by_list' AND measured_ratio IS NULL")" "0, 1"
holds memlag.db 0 "SELECT count(*) FROM line_measured_view
        WHERE function = 'named_by_list' AND agreement IS NOT NULL"
"$MEMLAG" diff --by function --format json memlag.db memlag.db >diff.json
expect "its difference" "$(python3 -c 'import json; print([row["measured_before_ns"]
        for row in json.load(open("diff.json"))["rows"] if row["function"] == "named_by_list"])')" \
        "[None]"

for room in 1 16; do
        (ulimit -f $room && ends 1 "$MEMLAG" record --with-clock -o small.db -- echo run >out </dev/null) ||
                exit 1
        expect "runs with $room blocks of room" "$(wc -l <out)" 0
        [ ! -e small.db ] || fail "a database without room"
done
for option in --duration=1 --freq=100 --sim-detail=cache; do
        ends 2 record $option -- true </dev/null
done
