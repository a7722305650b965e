#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag symbolize on the command line: usage, errors, binaries that are not the
# recorded ones, and a second run.
. "$SOURCE_DIR/tests/integration/library.sh"

one_line_about()
{
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $(cat err)"
        says "^memlag symbolize: .*$1"
}

# Each of line, function, stack, object and type accounts for all samples, and each sample
# that lacks one has the reason that it is counted under.
account_is_whole()
{
        holds memlag.db 5 "SELECT count(*) FROM (SELECT 1 FROM resolution GROUP BY subject
                HAVING sum(samples) = (SELECT count(*) FROM sample))"
        cp memlag.db viewed.db
        sqlite3 viewed.db <"$SOURCE_DIR/analysis/views.sql"
        sqlite3 viewed.db "SELECT subject, reason, count(*) FROM unresolved_view GROUP BY 1, 2" >each
        sqlite3 viewed.db "SELECT * FROM resolution WHERE outcome <> 'resolved'" | diff - each ||
                fail "the samples have other reasons than are counted"
}

# make_db DB PROGRAM [BUILD-ID]: samples in the function work of PROGRAM.

make_db()
{
        PYTHONPATH="$SOURCE_DIR/tests/integration" \
                python "$SOURCE_DIR/profiler/db/schema.sql" "$@" <<'END'
import symbolize_db
schema, database, program, *build_id = sys.argv[1:]
for line in symbolize_db.output("nm", program).splitlines():
    if line.endswith(" T work"):
        work = int(line.split()[0], 16)
symbolize_db.make(database, schema, program, [(work + i, None) for i in range(4)],
                  0x7f1234560000, bytes.fromhex(build_id[0]) if build_id else None)
END
}

"$MEMLAG" symbolize --help | grep -q 'Usage: memlag symbolize' || fail "no help"
ends 2 "$MEMLAG" symbolize --no-such-option >out
ends 2 "$MEMLAG" symbolize a.db b.db >out
refuses 2 '^memlag symbolize: --allocator: the name is empty' "$MEMLAG" symbolize --allocator=
for option in --symfs --debuginfo-path --build-id-dir --vmlinux --kallsyms; do
        ends 1 "$MEMLAG" symbolize $option= >out
        one_line_about "$option: the path is empty; nothing was done"
done
refuses 2 '^memlag import: the name of the recording is empty' "$MEMLAG" import ''
ends 1 "$MEMLAG" symbolize missing.db >out
one_line_about missing.db
ends 1 "$MEMLAG" symbolize >out # memlag.db is not there
one_line_about memlag.db
echo 'no database' >other
ends 1 "$MEMLAG" symbolize other >out
one_line_about other

program program -O0 -pie -fPIE <<'END'
int work(int n)
{
        return n * 3 + 1;
}
int main(void)
{
        return work(1);
}
END
make_db memlag.db program

ends 0 "$MEMLAG" symbolize >out
[ -z "$(cat out err)" ] || fail "not silent: $(cat out err)"
holds memlag.db work 'SELECT DISTINCT function FROM location'
holds memlag.db 2 'SELECT min(line) FROM location'
holds memlag.db resolved4 "SELECT outcome || samples FROM resolution WHERE subject = 'function'"
account_is_whole
holds memlag.db 0 'SELECT count(*) FROM ledger'

# Again: the same.
sqlite3 memlag.db .dump >first
ends 0 "$MEMLAG" symbolize memlag.db >out
sqlite3 memlag.db .dump | cmp - first || fail "a second run is different"

# Nothing is named again, which a name shows that no run would give; until a file changes.
sqlite3 memlag.db "UPDATE name SET text = 'kept'"
ends 0 "$MEMLAG" symbolize memlag.db >out
holds memlag.db kept 'SELECT DISTINCT function FROM location'
ends 0 "$MEMLAG" symbolize --debuginfo-path=. memlag.db >out
holds memlag.db work 'SELECT DISTINCT function FROM location'
sqlite3 memlag.db "UPDATE name SET text = 'kept'"
touch program
ends 0 "$MEMLAG" symbolize memlag.db >out
holds memlag.db work 'SELECT DISTINCT function FROM location'
# Another build of memlag makes them again, and one that does not know which it is.
python "$MEMLAG" <<'END'
sys.path.insert(0, os.environ["SOURCE_DIR"] + "/tests/integration")
from symbolize_db import build_id
note = b"GNU\0" + build_id(sys.argv[1])
with open(sys.argv[1], "rb") as file:
    contents = file.read()
for name, other in (("another-memlag", b"GNU\0" + note[:3:-1]), ("unknown-memlag", b"UNG" + note[3:])):
    assert contents.count(note) == 1 and len(other) == len(note)
    with open(name, "wb") as file:
        file.write(contents.replace(note, other))
END
chmod +x another-memlag unknown-memlag
for build in another unknown unknown; do
        sqlite3 memlag.db "UPDATE name SET text = 'kept'"
        ends 0 "./$build-memlag" symbolize memlag.db >out
        holds memlag.db work 'SELECT DISTINCT function FROM location'
done
ends 0 "$MEMLAG" symbolize memlag.db >out

sqlite3 memlag.db .dump >first

# The program is built again with other lines. The old recording gets no names from it. It keeps its
# names and findings until the user gives them up.
sed 's/^int work/\n\n&/' program.c >longer.c
recorded=$(readelf -n program | sed -n 's/.*Build ID: //p')
mv program old
"$CC" -g -O1 -pie -fPIE -o program longer.c
for option in "" --debuginfo-path=.; do
        ends 1 "$MEMLAG" symbolize $option memlag.db >out
        one_line_about "4 of program .*another file is there now.*--build-id-dir"
        sqlite3 memlag.db .dump | cmp - first || fail "names are lost to another build"
done
mkdir -p kept/.build-id/"$(echo "$recorded" | cut -c 1-2)"
cp old kept/.build-id/"$(echo "$recorded" | sed 's/^../&\//')"
sqlite3 memlag.db "UPDATE name SET text = 'kept'"
ends 0 "$MEMLAG" symbolize --build-id-dir=kept memlag.db >out
holds memlag.db work 'SELECT DISTINCT function FROM location'
ends 0 "$MEMLAG" symbolize --drop-names memlag.db >out
holds memlag.db 0 'SELECT count(function) + count(line) FROM location'
holds memlag.db 4 "SELECT value FROM ledger WHERE kind = 'samples in changed binary'"
holds memlag.db 'changed binary4' "SELECT outcome || samples FROM resolution WHERE subject = 'line'"
account_is_whole

# Removed; and removed when it had given names.
rm program
ends 0 "$MEMLAG" symbolize memlag.db >out
holds memlag.db 4 "SELECT value FROM ledger WHERE kind = 'samples in missing file'"
account_is_whole
rm -f gone.db
sqlite3 gone.db <first
sqlite3 gone.db "PRAGMA application_id = $(sqlite3 memlag.db 'PRAGMA application_id');
        PRAGMA user_version = $(sqlite3 memlag.db 'PRAGMA user_version')"
ends 1 "$MEMLAG" symbolize gone.db >out
one_line_about "4 of program .*it is not there"
holds gone.db work 'SELECT DISTINCT function FROM location'

# Back: as at first.
mv old program
ends 0 "$MEMLAG" symbolize memlag.db >out
sqlite3 memlag.db .dump | cmp - first || fail "the names did not come back"

# Findings that were made with other names do not stay beside the new ones: the report makes
# them again.
make_db renamed.db program
mv program whole
strip -o program whole
sqlite3 renamed.db "INSERT INTO data_source VALUES (1, 'load', 'L2', 'hit', 'none', 0, NULL);
        UPDATE sample SET data_source_id = 1, addr = 4096"
ends 0 "$MEMLAG" symbolize renamed.db >out
ends 0 "$MEMLAG" analyze renamed.db >out
holds renamed.db '1|0' 'SELECT count(*), count(function) FROM line_view'
mv whole program
ends 0 "$MEMLAG" symbolize renamed.db >out
one_line_about "findings in renamed.db .*'memlag analyze'"
holds renamed.db 0 'SELECT count(*) FROM line_view'
ends 0 "$MEMLAG" report --format csv renamed.db >out
says ',work,.*program.c,2,' out
found=$(sqlite3 renamed.db 'SELECT * FROM line_view')
ends 0 "$MEMLAG" symbolize renamed.db >out
[ -z "$(cat err)" ] && [ "$(sqlite3 renamed.db 'SELECT * FROM line_view')" = "$found" ] ||
        fail "findings are gone, and nothing was named again: $(cat err)"

# A recording without names says whose file is another now.
mv program whole
"$CC" -g -O1 -pie -fPIE -o program longer.c
ends 0 "$MEMLAG" symbolize --drop-names renamed.db >out
ends 0 "$MEMLAG" report -v renamed.db >out
tr '\n' ' ' <out | grep -q "program (another file now; build-id $recorded)\. .*--build-id-dir" ||
        fail "the report does not say that the file is another: $(cat out)"
mv whole program

# Files of split debug information are noticed too: one that comes, one that changes. One
# that has gone takes no names away.
"$CC" -g -gsplit-dwarf -O0 -pie -fPIE -o split program.c
dwo=$(ls ./*.dwo)
mv "$dwo" away
make_db split.db split
ends 0 "$MEMLAG" symbolize split.db >out
missing_units="SELECT total(value) FROM ledger WHERE kind = 'split debug information not found'"
holds split.db 1.0 "$missing_units"
mv away "$dwo"
for change in true "touch $dwo"; do
        $change
        sqlite3 split.db "UPDATE name SET text = 'kept'"
        ends 0 "$MEMLAG" symbolize split.db >out
        holds split.db work 'SELECT DISTINCT function FROM location'
done
holds split.db 0.0 "$missing_units"
sqlite3 split.db "UPDATE name SET text = 'kept'"
for change in true "rm $dwo"; do
        $change
        ends 0 "$MEMLAG" symbolize split.db >out
        holds split.db kept 'SELECT DISTINCT function FROM location'
done

# What dwz moved to another file: gone, packed in no known way, nonsense, there.
"$CC" -g -O0 -pie -fPIE -gz=zlib -Wl,--build-id -o whole program.c
python <<'END'
notes = subprocess.run(["readelf", "-n", "whole"], capture_output=True, text=True).stdout
with open("link", "wb") as link:
    link.write(b"common.debug\0" + bytes.fromhex(re.search("Build ID: ([0-9a-f]+)", notes)[1]))
text = subprocess.run(["readelf", "-SW", "whole"], capture_output=True, text=True).stdout
offset = int(re.search(r"\.debug_info +PROGBITS +0+ ([0-9a-f]+) [0-9a-f]+ 00 +C ", text)[1], 16)
contents = bytearray(open("whole", "rb").read())
contents[offset : offset + 4] = struct.pack("<I", 99)  # ch_type
open("damaged", "wb").write(contents)
subprocess.run(["objcopy", "--decompress-debug-sections", "whole", "nonsense"], check=True)
text = subprocess.run(["readelf", "-SW", "nonsense"], capture_output=True, text=True).stdout
contents = bytearray(open("nonsense", "rb").read())
for name, filler in (("info", 0xA5), ("abbrev", 0)):
    offset, size = re.search(rf"\.debug_{name} +PROGBITS +0+ ([0-9a-f]+) ([0-9a-f]+)", text).groups()
    offset, size = int(offset, 16), int(size, 16)
    changed = bytearray(contents)
    changed[offset : offset + size] = bytes([filler]) * size
    open(f"nonsense-{name}", "wb").write(changed)
END
"$CC" -g -O0 -pie -fPIE -o linked program.c
objcopy --add-section .gnu_debugaltlink=link linked
missing_dwz="SELECT total(value) FROM ledger WHERE kind = 'dwz files not found or damaged'"
for state in gone damaged nonsense-info nonsense-abbrev whole; do
        rm -f common.debug
        [ "$state" = gone ] || cp "$state" common.debug
        make_db linked.db linked
        ends 0 "$MEMLAG" symbolize linked.db >out
        wanted=1.0
        [ "$state" != whole ] || wanted=0.0
        holds linked.db "$wanted" "$missing_dwz"
        holds linked.db work 'SELECT DISTINCT function FROM location'
done

# Stubs of the linkage table have objdump's names, at every byte: with and without binding at start
# and landing pads, with addresses of functions taken, by ld and, of any kind, without relocation of
# the program.
cat >stubs.c <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int work(int (*compare)(const void *, const void *)) { return compare(&compare, &compare); }
int main(int argc, char **argv)
{
        int (*volatile print)(const char *) = puts;
        printf("%g\n", cos(atof(argv[argc - 1])));
        return print("") + atexit(abort) + puts("");
}
END
for flags in "-Wl,-z,lazy -fcf-protection=none" "-Wl,-z,now -fcf-protection=full" \
        "-Wl,-z,lazy -Wl,-z,ibtplt -fcf-protection=full" "-no-pie -Wl,-z,lazy"; do
        # shellcheck disable=SC2086 # several flags
        gcc -O1 $flags -o stubs stubs.c -lm
        PYTHONPATH="$SOURCE_DIR/tests/integration" \
                python "$SOURCE_DIR/profiler/db/schema.sql" "$MEMLAG" "$flags" <<'END' || exit 1
import symbolize_db
schema, memlag, flags = sys.argv[1:]
names, name = {}, None
for line in symbolize_db.output("objdump", "-d", "-w", "stubs").splitlines():
    label = re.match(r"[0-9a-f]+ <(.*)>:$", line)
    code = re.match(r"\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", line)
    name = label[1] if label else name if line else None
    if code and name and name.endswith("@plt") and not name.startswith("*ABS*"):
        names.update((int(code[1], 16) + i, name) for i in range(len(code[2].split())))
wanted = {re.sub("@GLIBC.*@|@plt$", "", name) for name in names.values()}
assert {"printf", "cos", "puts"} <= wanted and len(wanted) >= 5, wanted
base = 0 if "no-pie" in flags else 0x7f1234560000
symbolize_db.make("stubs.db", schema, "stubs", [(a, None) for a in names], base)
subprocess.run([memlag, "symbolize", "stubs.db"], check=True)
found = dict(sqlite3.connect("stubs.db").execute("SELECT address_offset, function FROM location"))
wrong = [(hex(a), found.get(a), name) for a, name in names.items() if found.get(a) != name]
assert not wrong, (flags, wrong[:5], len(wrong), len(names))
END
done

# Packed debug information that claims to be larger than the machine is not unpacked.
printf '#include <%s.h>\n' stdio stdlib string sys/socket netinet/in >packed.c
cat program.c >>packed.c
"$CC" -g -O0 -pie -fPIE -gz=zlib -o packed packed.c
make_db packed.db packed
ends 0 "$MEMLAG" symbolize packed.db >out
[ "$(sqlite3 packed.db 'SELECT count(line) FROM location')" -gt 0 ] || fail "no lines of packed"
python <<'END'
text = subprocess.run(["readelf", "-SW", "packed"], capture_output=True, text=True).stdout
offset = int(re.search(r"\.debug_info +PROGBITS +0+ ([0-9a-f]+) [0-9a-f]+ 00 +C ", text)[1], 16)
with open("packed", "r+b") as program:
    program.seek(offset + 8)  # ch_size
    program.write(struct.pack("<Q", 1 << 50))
END
ends 1 "$MEMLAG" symbolize packed.db >out
one_line_about 'packed would be lost: its debug information is not there'
ends 0 "$MEMLAG" symbolize --drop-names packed.db >out
holds packed.db 4 "SELECT value FROM ledger
        WHERE kind = 'samples in binary with too much debug information'"
holds packed.db work 'SELECT DISTINCT function FROM location'
python <<'END'
text = subprocess.run(["readelf", "-SW", "packed"], capture_output=True, text=True).stdout
offset = int(re.search(r"\.debug_info +PROGBITS +0+ ([0-9a-f]+) [0-9a-f]+ 00 +C ", text)[1], 16)
with open("packed", "r+b") as program:
    program.seek(offset)
    program.write(struct.pack("<IIQ", 99, 0, 100))  # ch_type: packed in no known way
END
ends 0 "$MEMLAG" symbolize packed.db >out
holds packed.db 4 "SELECT value FROM ledger
        WHERE kind = 'samples in binary with damaged debug information'"

# Damage in the middle of a file: one line with its name and the remedy.
page=$(sqlite3 memlag.db "SELECT rootpage FROM sqlite_schema WHERE name = 'module'")
dd if=/dev/zero of=memlag.db bs="$(sqlite3 memlag.db 'PRAGMA page_size')" seek=$((page - 1)) \
        count=1 conv=notrunc 2>dd.err || fail "$(cat dd.err)"
ends 1 "$MEMLAG" symbolize memlag.db >out
one_line_about 'memlag.db: it is damaged .* record again'

# An option that there is not.
ends 2 "$MEMLAG" symbolize --nonsense memlag.db >out
grep -qx "memlag symbolize: unrecognized option '--nonsense'" err || fail "wrong usage: $(cat err)"
