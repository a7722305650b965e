#!/bin/sh
# SPDX-License-Identifier: MIT
# Stripped programs: where their functions begin, against the symbols that they had, and
# against readelf's reading of the unwind table; and reports by function of one.
. "$SOURCE_DIR/tests/integration/library.sh"

g++ -O2 -std=c++20 -o containers "$SOURCE_DIR/tests/integration/types/containers.cc" -lpthread 2>err ||
        fail "$(cat err)"
set -- containers "$MEMLAG"
if command -v clang >/dev/null; then
        clang -O2 -no-pie -o program "$SOURCE_DIR/tests/integration/types/program.c" 2>err ||
                fail "$(cat err)"
        set -- "$@" program
fi
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SOURCE_DIR/tests/integration" python3 - "$@" <<'END_OF_PYTHON'
import os, random, re, sqlite3, subprocess, sys
import symbolize_db
random.seed(1)
memlag = os.environ["MEMLAG"]
for program in sys.argv[1:]:
    subprocess.run(["strip", "-o", "stripped", program], check=True)
    functions = {}  # where each begins and ends; aliases once
    for line in symbolize_db.output("readelf", "-sW", program).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[3] == "FUNC" and fields[6] != "UND" and int(fields[2], 0) > 0:
            begin = int(fields[1], 16)
            functions[begin] = max(begin + int(fields[2], 0), functions.get(begin, 0))
    entries = [(int(begin, 16), int(end, 16)) for begin, end in re.findall(
        r" FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)",
        symbolize_db.output("readelf", "--debug-dump=frames", program))]
    begins = {begin for begin, _ in entries}
    asked = {}
    for begin, end in functions.items():
        if begin in begins or any(low <= begin < high for low, high in entries):
            asked[random.randrange(begin, end)] = begin
    base = 0 if symbolize_db.output("readelf", "-hW", program).count("EXEC (") else 0x7f1234560000
    symbolize_db.make("starts.db", os.environ["SOURCE_DIR"] + "/profiler/db/schema.sql",
                      "stripped", [(address, None) for address in asked], base)
    subprocess.run([memlag, "symbolize", "starts.db"], check=True)
    found = sqlite3.connect("starts.db").execute(
        "SELECT address_offset, function, function_offset FROM location").fetchall()
    nameless = [(address, start) for address, function, start in found if not function]
    right = sum(start == asked[address] for address, start in nameless)
    print(f"{os.path.basename(program)}: {right} of {len(nameless)} functions without a name"
          f" begin where their symbols do")
    assert len(nameless) > (1000 if program == memlag else 20), (len(nameless), len(asked))
    assert right >= 0.99 * len(nameless), [
        (hex(a), hex(asked[a]), s and hex(s)) for a, s in nameless if s != asked[a]][:20]
    for address, start in nameless:  # each is what the other reader has
        inside = [low for low, high in entries if low <= address < high]
        assert start == max(inside, default=None), (hex(address), start, inside)
    reasons = sqlite3.connect("starts.db").execute(
        "SELECT DISTINCT outcome FROM resolution WHERE subject = 'function'").fetchall()
    assert set(reasons) <= {("resolved",), ("no symbol",)}, reasons
END_OF_PYTHON

# A report by function has a row for each, by lines and by callers too; the tree of calls
# and the pattern for one are by the same names.
cat >two.c <<'END_OF_C'
#include <stdlib.h>
struct node { struct node *next; long key[7]; };
static struct node nodes[4096];
__attribute__((noinline, noclone)) static long first(struct node *at)
{
        long sum = 0;
        for (int i = 0; i < 100000; i++, at = at->next)
                sum += at->key[0];
        return sum;
}
__attribute__((noinline, noclone)) static long second(struct node *at)
{
        long sum = 0;
        for (int i = 0; i < 50000; i++, at = at->next)
                sum += at->key[1];
        return sum;
}
int main(void)
{
        for (int i = 0; i < 4096; i++)
                nodes[i].next = &nodes[(i * 5 + 1) % 4096];
        return first(nodes) + second(nodes) == 7;
}
END_OF_C
gcc -O2 -o whole two.c
strip -o two whole
record two $LOADS --ldlat 1 --period 7 -- ./two
for name in first second main; do
        where=$(nm whole | sed -n "s/^0*\([0-9a-f]*\) [tT] $name\$/two+0x\1/p")
        for by in line function caller; do
                [ "$name $by" != "main line" ] && [ "$name $by" != "main function" ] || continue
                "$MEMLAG" report -v --by $by two.db >out
                expect "rows $where by $by" "$(grep -c "$where\$" out)" 1
        done
done
where=$(nm whole | sed -n 's/^0*\([0-9a-f]*\) t first$/two+0x\1/p')
"$MEMLAG" report -v --by function -S "$where" two.db >out
says "Only function two+0x[0-9a-f]*: [0-9]* of [0-9]* samples, [3-9][0-9]\." out
"$MEMLAG" report -v --by function -S '[two]' two.db >out
[ "$(grep -c ' two+0x' out)" -ge 2 ] || fail "those of a module are not chosen: $(cat out)"
holds two.db 1 "SELECT count(*) >= 2 FROM line_view WHERE module LIKE '%/two'
        AND function IS NULL AND function_offset > 0"
holds two.db 1 "SELECT count(*) > 10000 FROM sample_view WHERE module LIKE '%/two'
        AND printf('two+0x%x', function_offset) = '$where'"
holds two.db 1 "SELECT count(*) FROM ledger WHERE kind = 'samples with no symbol'"
