#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag annotate on a program whose hot loads are known, two of them inlined: the lines have
# the figures of the report, and those of a function add up to its samples.
set -eu
. "$SOURCE_DIR/tests/integration/synthetic.sh"

cat >hot.c <<'END'
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *next;
	long value;
	long pad[6];
};

static long table[1 << 19];

static inline __attribute__((always_inline)) long entry(unsigned long x)
{
	long value = table[x >> 45]; /* inlined */
	return value ^ value >> 3;
}

__attribute__((noinline)) static long walk(const struct node *node, long steps)
{
	while (--steps)
		node = node->next; /* chase */
	return node->value;
}

__attribute__((noinline)) static long pick(long steps)
{
	unsigned long x = 1;
	long sum = 0;
	while (steps--) {
		x = x * 6364136223846793005UL + 1442695040888963407UL;
		sum += entry(x); /* call */
	}
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	table[argc] = argc;
	long count = 1 << 16;
	struct node *nodes = malloc(count * sizeof(*nodes));
	for (long i = 0; i < count; i++)
		nodes[i] = (struct node){.next = &nodes[(i + 25717) % count]};
	printf("%ld\n", walk(nodes, 20000) + pick(20000));
	return 0;
}
END
"$CC" -O2 -g hot.c -o hot
"$MEMLAG" record --source sim --no-heap --period 7 -o hot.db -- ./hot >/dev/null 2>&1
line_of() { grep -n "/\* $1 \*/" hot.c | cut -d: -f1; }
chase=$(line_of chase) call=$(line_of call) inlined=$(line_of inlined)

# ---- for people ---------------------------------------------------------------
"$MEMLAG" annotate -i hot.db walk pick >out
expect "the first line" "$(head -1 out)" "$("$MEMLAG" report hot.db | head -1)"
grep -q "^ .* $chase  *node = node->next; /\* chase \*/$" out || fail "no figures at line $chase: $(cat out)"
grep -q "^  *$((chase - 1))  *while (--steps)$" out || fail "no line before the one with samples: $(cat out)"
grep -q "^  *$call  *sum += entry(x); /\* call \*/$" out || fail "no line of the call: $(cat out)"
grep -q "^ .*[0-9]%.* inlined entry, hot.c:$inlined$" out || fail "no inlined line below the call: $(cat out)"
grep -q "^walk in hot: [0-9]* samples, .*% of the latency, stalled .*% of the cycles$" out || fail "no heading of walk"
expect "the order of what was asked for" "$(grep -o '^[a-z]* in hot:' out | tr '\n' ' ')" "walk in hot: pick in hot: "
! "$MEMLAG" annotate -i hot.db --context 0 walk | grep -q 'while (--steps)' || fail "--context 0 has lines around"

# A line has the report's figures.
expect "the figures of line $chase" \
        "$(grep "/\* chase \*/" out | awk '{print $1, $2, $3, $4, $5, $6, $7}')" \
        "$("$MEMLAG" report --no-source hot.db | grep "hot.c:$chase " | awk '{print $1, $2, $4, $5, $6, $8, $9}')"

# ---- sums, beside what SQL counts ----------------------------------------------
count() { "$MEMLAG" query --format csv hot.db "$1" | tail -1; }
# samples_of NAME of an annotation in CSV: those of its lines
rows_of() { "$MEMLAG" annotate -i hot.db --format csv "$1" >rows.csv && sqlite3 ':memory:' ".mode csv" \
        ".import rows.csv r" ".mode list" "$2"; }
for function in walk pick entry; do
        in_it="SELECT count(*) FROM sample_location JOIN location AS l USING (location_id)
                WHERE l.function = '$function' OR location_id IN (SELECT location_id
                        FROM inline_frame WHERE function = '$function')"
        expect "samples of $function" \
                "$(rows_of $function "SELECT sum(samples) FROM r WHERE kind IN ('line', 'inlined')")" "$(count "$in_it")"
done
expect "samples inlined into pick" "$(rows_of pick "SELECT sum(samples) FROM r WHERE kind = 'inlined' AND line = $call AND inlined_line = $inlined")" \
        "$(count "SELECT samples FROM line_view WHERE function = 'entry' AND line = $inlined")"
expect "stalled share of what is inlined" "$(rows_of pick "SELECT printf('%.6f', sum(stalled_ratio)) FROM r WHERE inlined_line = $inlined")" \
        "$(count "SELECT printf('%.6f', stalled_ratio) FROM line_view WHERE function = 'entry' AND line = $inlined")"
expect "lines of the file" "$(rows_of hot.c "SELECT sum(samples) FROM r WHERE kind = 'line'")" \
        "$(count "SELECT sum(samples) FROM line_view WHERE file LIKE '%/hot.c'")"
expect "one line" "$(rows_of "hot.c:$chase" "SELECT group_concat(DISTINCT line || source_text) FROM r")" \
        "$chase                node = node->next; /* chase */"
expect "lines of a range" "$(rows_of "hot.c:$inlined-$chase" "SELECT min(line) || ' ' || max(line) FROM r")" "$inlined $chase"

# Without a name those that the report has first.
expect "the hottest functions" "$("$MEMLAG" annotate -i hot.db --format json --top 2 |
        python3 -c 'import json, sys; print(*dict.fromkeys(r["annotated"] for r in json.load(sys.stdin)["rows"]))')" \
        "$("$MEMLAG" query --format csv hot.db "SELECT group_concat(function, ' ') FROM (SELECT function
                FROM function_finding ORDER BY stalled_ratio DESC, latency_share DESC LIMIT 2)" | tail -1)"

# ---- where the source is ---------------------------------------------------------
"$MEMLAG" annotate -i hot.db walk | tr '\n' ' ' >text
! grep -q 'newer than\|not found' text || fail "a note without need: $(cat text)"
mkdir -p elsewhere/deep
mv hot.c elsewhere/deep/
"$MEMLAG" annotate -i hot.db walk pick | tr '\n' ' ' >text
grep -q 'Source text not found: .*/hot.c. Where.* --source-path DIR' text || fail "a missing file is not told: $(cat text)"
expect "times that it is told" "$(grep -o 'not found' text | wc -l)" 1
for option in "--source-path elsewhere/deep" "--substitute-path $PWD=$PWD/elsewhere/deep" \
        "--substitute-path /nowhere=/x --substitute-path $PWD/=elsewhere/deep"; do
        "$MEMLAG" annotate -i hot.db $option walk | grep -q '/\* chase \*/' || fail "no text with $option"
done
touch elsewhere/deep/hot.c
"$MEMLAG" annotate -i hot.db --source-path elsewhere/deep walk | tr '\n' ' ' >text
grep -q 'elsewhere/deep/hot.c is newer than the recording: lines may have moved' text || fail "a newer file is not told: $(cat text)"
# Bytes of any kind, a long line, and too few lines.
{ yes '' | head -$((chase - 1)) || true; printf '\033[31m\001\377'; head -c 300000 /dev/zero | tr '\0' x; echo; } >elsewhere/hot.c
"$MEMLAG" annotate -i hot.db --source-path elsewhere walk >text
grep -q '\\x1b\[31m\\x01\\xffxxx' text || fail "control characters are not escaped"
expect "bytes for a terminal to obey" "$(tr -d '\n[:print:]' <text | wc -c)" 0
[ "$(wc -L <text)" -lt 400 ] || fail "a line of $(wc -L <text) columns"
echo >elsewhere/hot.c
"$MEMLAG" annotate -i hot.db --source-path elsewhere walk | tr '\n' ' ' | grep -q "has no line [0-9]*: it is not the file" ||
        fail "a file with fewer lines is not told"
rm elsewhere/hot.c && mkfifo elsewhere/hot.c
timeout 10 "$MEMLAG" annotate -i hot.db --source-path elsewhere walk | grep -q 'not found' || fail "a pipe is read"

# ---- what cannot be done -----------------------------------------------------------
status=0
"$MEMLAG" annotate -i hot.db nothing 2>err || status=$?
expect "status for what is not there" $status 1
grep -q "no sample was in a function or file called 'nothing'" err || fail "says: $(cat err)"
for wrong in "--substitute-path x" "--source-path /none" "--top 0" "--context -1" "--format html"; do
        status=0
        "$MEMLAG" annotate -i hot.db $wrong 2>err || status=$?
        expect "status of $wrong" $status 2
done
# Findings without names.
cp hot.db nameless.db
sqlite3 nameless.db "UPDATE code_location SET function_id = NULL, file_id = NULL, line = NULL;
        DELETE FROM code_frame"
"$MEMLAG" analyze nameless.db
"$MEMLAG" annotate -i nameless.db >out || fail "without names: status $?"
