#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag annotate on a program with known hot loads, two of them inlined. The lines have the
# report's figures, and the lines of a function add up to its samples.
. "$SOURCE_DIR/tests/integration/library.sh"

program hot -O2 <<'END'
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
#pragma GCC unroll 1
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
record hot $SIM --ldlat 30 --period 7 -- ./hot
line_of() { grep -n "/\* $1 \*/" hot.c | cut -d: -f1; }
chase=$(line_of chase) call=$(line_of call) inlined=$(line_of inlined)

# ---- debug information names the file relative to where it was compiled ----
mkdir -p objects
(cd objects && compile -O2 ../hot.c -o ../relative)
record relative $SIM --ldlat 30 --period 7 -- ./relative
"$MEMLAG" annotate -i relative.db walk >out 2>&1
grep -q 'node = node->next; /\* chase \*/$' out || fail "no text of a relative path: $(cat out)"

# ---- for people ---------------------------------------------------------------
"$MEMLAG" annotate -i hot.db walk pick >out
expect "the first line" "$(head -1 out)" "$("$MEMLAG" report -v hot.db | head -1)"
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
        "$("$MEMLAG" report -v --no-source hot.db | grep "hot.c:$chase " | awk '{print $1, $2, $4, $5, $6, $8, $9}')"

# ---- sums, beside what SQL counts ----------------------------------------------
count() { "$MEMLAG" query --format csv hot.db "$1" | tail -1; }
# rows_of NAME SQL [DB]: of the rows r of an annotation in CSV
rows_of() { "$MEMLAG" annotate -i "${3-hot.db}" --format csv "$1" >rows.csv && sqlite3 ':memory:' \
        ".import --csv rows.csv r" "$2"; }
for function in walk pick entry; do
        in_it="SELECT count(*) FROM sample_location JOIN location AS l USING (location_id)
                WHERE sample_id NOT IN (SELECT sample_id FROM page_fault)
                AND (l.function = '$function' OR location_id IN (SELECT location_id
                        FROM inline_frame WHERE function = '$function'))"
        expect "samples of $function" \
                "$(rows_of $function "SELECT sum(samples) FROM r WHERE kind IN ('line', 'inlined')")" "$(count "$in_it")"
done
expect "samples inlined into pick" "$(rows_of pick "SELECT sum(samples) FROM r WHERE kind = 'inlined' AND line = $call AND inlined_line = $inlined")" \
        "$(count "SELECT samples FROM line_view WHERE function = 'entry' AND line = $inlined")"
expect "stalled share of what is inlined" "$(rows_of pick "SELECT printf('%.6f', sum(stalled_ratio)) FROM r WHERE kind = 'inlined' AND inlined_line = $inlined")" \
        "$(count "SELECT printf('%.6f', stalled_ratio) FROM line_view WHERE function = 'entry' AND line = $inlined")"
expect "lines of the file" "$(rows_of hot.c "SELECT sum(samples) FROM r WHERE kind = 'line'")" \
        "$(count "SELECT sum(samples) FROM line_view WHERE file LIKE '%/hot.c'")"
expect "one line" "$(rows_of "hot.c:$chase" "SELECT group_concat(DISTINCT line || source_text) FROM r WHERE kind = 'line'")" \
        "$chase                node = node->next; /* chase */"
"$MEMLAG" annotate -i hot.db hot.c:3 >out
grep -q "^  *3  *long value;$" out && grep -q "^  *6  *$" out && grep -q "hot.c:3: 0 samples" out ||
        fail "a line without samples is not shown: $(cat out)"
expect "lines of a range" "$(rows_of "hot.c:$inlined-$chase" "SELECT min(line) || ' ' || max(line) FROM r")" "$inlined $chase"

# ---- instructions -----------------------------------------------------------------
for function in walk pick entry hot.c; do
        expect "samples of lines, instructions and accesses of $function" "$(rows_of $function "
                SELECT count(DISTINCT n) FROM
                (SELECT sum(samples) AS n FROM r GROUP BY iif(kind = 'inlined', 'line', kind))")" 1
done
# Their text is objdump's, in both syntaxes.
for syntax in att intel; do
        objdump -d --no-show-raw-insn -M $syntax hot >objdump.txt
        option=$([ $syntax = intel ] && echo --intel || true)
        "$MEMLAG" annotate -i hot.db $option --format json hot.c >rows.json
        python objdump.txt rows.json <<'END' || fail "instructions are not objdump's ($syntax)"
def plain(text):
    return re.sub(r"\s+", " ", re.sub(r"\s*[#<].*", "", text)).replace(" 0x0(", " (").strip().lower()

objdump = {int(m[1], 16): plain(m[2]) for m in re.finditer(r"^ *([0-9a-f]+):\t(.*)$", open(sys.argv[1]).read(), re.M)}
rows = [r for r in json.load(open(sys.argv[2]))["rows"] if r["kind"] == "instruction"]
assert len(rows) >= 2, rows
for row in rows:
    assert plain(row["instruction"]) == objdump[row["address_offset"]], (row, objdump[row["address_offset"]])
END
done
"$MEMLAG" annotate -i hot.db walk >out
objdump -d --no-show-raw-insn hot | sed -n '/<walk[.a-z0-9]*>:/,/^$/p' | grep 'mov  *(' | head -1 | sed 's/^ *//; s/:.*//' >address
says "^ .* $(cat address):  mov  *(%r[a-z]*),%r[a-z]*  # struct node.next of main at hot.c:[0-9]*, allocated for nodes$" out
grep -q "DWORD PTR\|qword ptr" rows.json || fail "--intel has no effect"
! "$MEMLAG" annotate -i hot.db --no-asm walk | grep -q '%r' || fail "--no-asm has instructions"
expect "kinds with --no-asm" "$("$MEMLAG" annotate -i hot.db --no-asm --format csv walk | cut -d, -f2 | sort -u | tr '\n' ' ')" "kind line "
# Lines with less than a tenth have theirs with --asm alone.
[ "$("$MEMLAG" annotate -i hot.db --asm hot.c | grep -c '%r')" -ge "$("$MEMLAG" annotate -i hot.db hot.c | grep -c '%r')" ] ||
        fail "--asm shows less"

# With --asm, each sampled instruction has the neighbours that objdump gives it.
"$MEMLAG" annotate -i hot.db --asm walk | grep '^ *[0-9a-f]*:  ' | sed 's/^ *//; s/  */ /g; s/ *#.*//' >neighbours
objdump -d --no-show-raw-insn hot | sed -n '/<walk[.a-z0-9]*>:/,/^$/p' | sed 's/^ *//; s/[ \t][ \t]*/ /g; s/ *[<#].*//' |
        grep -A2 -B2 "^$(cat address): " | grep -v "^$(cat address): \|^$\|nop" | grep -v '^[0-9a-f]* *$' >around
[ -s around ] && ! grep -vxFf neighbours around || fail "neighbours: $(cat neighbours) for $(cat around)"
# Another program has its place. The database has the recorded instructions; the other program's do
# not replace them. Neighbours and another syntax are then missing, and annotate says so.
"$MEMLAG" annotate -i hot.db --source-path "$PWD" walk >recorded
cp hot hot.recorded
compile -g0 -O2 hot.c -o hot -DOTHER -Wl,--build-id=0x1234
"$MEMLAG" annotate -i hot.db --source-path "$PWD" walk >out
cmp recorded out || fail "another program changes what is shown: $(cat out)"
"$MEMLAG" annotate -i hot.db --asm walk >out
expect "instructions beside the recorded ones" "$(grep '^ *[0-9a-f]*:  ' out)" ""
tr '\n' ' ' <out | grep -q 'No instructions beside those with samples: no machine code of .*/hot (another file is there)' ||
        fail "another program is not told: $(cat out)"
"$MEMLAG" annotate -i hot.db --intel walk >out
! grep -qi 'ptr \[' out || fail "instructions of another program: $(cat out)"
tr '\n' ' ' <out | grep -q 'No machine code of .*/hot (another file is there)' || fail "another program is not told: $(cat out)"
"$MEMLAG" annotate -i hot.db --intel --format csv walk 2>err >rows.csv
grep -q "^memlag annotate: No machine code of .*/hot (" err || fail "another program is not told in CSV"
rm hot
"$MEMLAG" annotate -i hot.db --intel walk | tr '\n' ' ' | grep -q 'No machine code of .*/hot (not found)' || fail "a lost program is not told"
# Damaged ones: cut off at every 997th byte, and with other bytes in its headers.
python <<'END' || fail "a damaged program"
whole = open("hot.recorded", "rb").read()
damaged = [whole[:n] for n in range(0, len(whole), 997)]
damaged += [whole[:n] + bytes([0xff] * 8) + whole[n + 8:] for n in range(0, 900, 24)]
for data in damaged:
    open("hot", "wb").write(data)
    done = subprocess.run([os.environ["MEMLAG"], "annotate", "-i", "hot.db", "--asm", "--source-path", ".", "walk"], capture_output=True, timeout=100)
    assert done.returncode == 0 and b"chase" in done.stdout, (done, len(data))
END
cp -f hot.recorded hot && chmod +x hot

# A missing type has its reason, in tables and for programs.
changed hot.db open.db "UPDATE attribution SET field_id = NULL, type_source_id = NULL, untyped_id = (SELECT untyped_id FROM untyped
        WHERE reason = 'index not proved') WHERE sample_id IN (SELECT sample_id FROM sample_view
        WHERE function = 'walk' AND type = 'struct node')"
"$MEMLAG" annotate -i open.db walk | grep -q '^ .*  # main at hot.c:[0-9]*, no type: index not proved$' || fail "no reason without a type"
expect "samples without a type" \
        "$(rows_of walk "SELECT untyped, sum(samples) FROM r WHERE kind = 'access' AND untyped LIKE 'index%' GROUP BY 1" open.db)" \
        "index not proved|$(answer hot.db "SELECT count(*) FROM sample_view WHERE function = 'walk' AND type = 'struct node'")"

# Code without lines shows its instructions.
strip hot -o stripped
record stripped $SIM --no-heap --period 29 -- ./stripped
"$MEMLAG" annotate -i stripped.db --top 3 >out
grep -q "^stripped+0x[0-9a-f]*: [0-9]* samples" out || fail "a function without a name: $(cat out)"
grep -q "^ .* $(cat address):  mov  *(%r" out || fail "instructions without lines: $(cat out)"

# Timer samples have no latency.
record timer $SIM --freq 100000 -- ./hot
"$MEMLAG" annotate -i timer.db walk pick >out
expect "columns of timer samples" "$(grep '^stalled ' out | sort -u | tr -s ' ')" "stalled samples line source"
same=$(answer timer.db "SELECT 'sum(samples) = ' || sum(samples) || ' AND abs(sum(latency_share) - ' ||
        sum(latency_share) || ') < 1e-9' FROM function_finding WHERE function IN ('pick', 'entry')")
expect "timer samples of pick: $same" "$(rows_of pick "SELECT $same FROM r WHERE kind IN ('line', 'inlined')" timer.db)" 1

# Without a name it shows the functions that the report ranks first.
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
        "--substitute-path /nowhere=/x --substitute-path $PWD/=elsewhere/deep" \
        "--substitute-path $PWD/./no/..=elsewhere/deep"; do
        "$MEMLAG" annotate -i hot.db $option walk | grep -q '/\* chase \*/' || fail "no text with $option"
done
# Builds name sources by way of other directories. What leads out of FROM is not in TO.
analyzed_change hot.db dotted.db "UPDATE name SET text = '/build/objects/../src/./hot.c' WHERE text LIKE '%/hot.c'"
for option in "/build=elsewhere" "/build/src=elsewhere/deep" "/build/objects/../src=elsewhere/deep"; do
        mkdir -p elsewhere/src && cp -p elsewhere/deep/hot.c elsewhere/src/
        "$MEMLAG" annotate -i dotted.db --substitute-path "$option" walk | grep -q '/\* chase \*/' || fail "no text with $option"
done
"$MEMLAG" annotate -i dotted.db --substitute-path /build/objects=elsewhere/src walk | tr '\n' ' ' | grep -q 'not found' ||
        fail "a path leads out of what was substituted"
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
timeout 100 "$MEMLAG" annotate -i hot.db --source-path elsewhere walk | grep -q 'not found' || fail "a pipe is read"

# ---- what cannot be done -----------------------------------------------------------
refuses 1 "no sample was in a function or file called 'nothing'" "$MEMLAG" annotate -i hot.db nothing
# Messages suggest what the user meant: a mistyped name, lines in the wrong order.
tells() { # WHAT TEXT: annotate ends with 1 and one line that has TEXT
        ends 1 "$MEMLAG" annotate -i hot.db "$1" >out
        expect "output for $1" "$(wc -c <out) $(wc -l <err)" "0 1"
        grep -qF -- "$2" err || fail "says of $1: $(cat err)"
}
tells wlak "near it are 'walk'"
tells hto.c "near it are 'hot.c'"
tells hot.c:6-5 "lines 6-5 of hot.c end before they begin; write hot.c:5-6"
# Other commands take a recording without -i.
cp hot.db 'a recording.db'
ends 2 "$MEMLAG" annotate 'a recording.db'
grep -qF "memlag annotate -i 'a recording.db'" err || fail "says of a recording: $(cat err)"
for wrong in "--top 2 walk" "--intel --no-asm" "--substitute-path x" "--source-path /none" "--top 0" "--context -1" "--format html"; do
        ends 2 "$MEMLAG" annotate -i hot.db $wrong
done
# The message for a missing view equals other commands' messages, and a line may have any number.
changed hot.db viewless.db "DROP VIEW sample_view"
refuses 1 "^memlag annotate: cannot read .*viewless.db: no such table: sample_view; make its views anew with 'memlag analyze'$" \
        "$MEMLAG" annotate -i viewless.db walk
# Findings without names.
analyzed_change hot.db nameless.db "UPDATE code_location SET function_id = NULL, file_id = NULL, line = NULL;
        DELETE FROM code_frame"
"$MEMLAG" annotate -i nameless.db >out || fail "without names: status $?"
grep -q "^\[hot\]: [0-9]* samples" out || fail "a module is not shown where functions have no names: $(cat out)"
