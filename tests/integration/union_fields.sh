#!/bin/sh
# SPDX-License-Identifier: MIT
# Structures in unions in structures, with arrays and bit-fields, and members without a name, in C
# and C++. A value that is only moved gets all fields at its address, with their offset. A type's
# rows contain no samples of another offset.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >fields.c <<'END'
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { ITEMS = 8192, READS = 30000 };
struct hash { void *next; char *text; uint64_t length, code; void *name, *value; };
struct group { void *next; int64_t keys[2]; void *values[2]; uint64_t count; };
struct bits { unsigned low : 3, middle : 9, high : 20; };
struct item {
        uint64_t id;
        union {
                struct hash hs;
                struct group hi;
        } u;
        union {
                struct { uint32_t count, scope; };
                struct { struct bits b; uint16_t half[2]; } flags;
                double real;
                struct { union { float x; int32_t number; }; char letters[4]; } inner;
        };
        struct { union { struct { uint16_t port, weight; } a; uint32_t both; } pair; uint32_t last; } end[3];
};
#define FIELDS(F, ARRAY) \
        F(id) F(u.hs.next) F(u.hs.text) F(u.hs.length) F(u.hs.code) F(u.hs.name) F(u.hs.value) \
        F(u.hi.next) ARRAY(u.hi.keys, 2, ) ARRAY(u.hi.values, 2, ) F(u.hi.count) F(count) F(scope) \
        ARRAY(flags.half, 2, ) F(real) F(inner.x) F(inner.number) ARRAY(inner.letters, 4, ) \
        ARRAY(end, 3, .pair.a.port) ARRAY(end, 3, .pair.a.weight) ARRAY(end, 3, .pair.both) \
        ARRAY(end, 3, .last)
#define READERS(R) \
        R(next, u.hs.next) R(text, u.hs.text) R(code, u.hs.code) R(name, u.hs.name) \
        R(key, u.hi.keys[1]) R(value, u.hi.values[0]) R(counted, u.hi.count) R(scope, scope) \
        R(real, real) R(half, flags.half[1]) R(letter, inner.letters[2]) R(number, inner.number) \
        R(port, end[2].pair.a.port) R(weight, end[1].pair.a.weight) R(both, end[0].pair.both)
static struct item *volatile items;
/* What is read is kept, and nothing else is done with it. */
#define READER(function, way) \
        static __attribute__((noinline)) void read_##function(void) \
        { \
                static volatile __typeof__(((struct item *)0)->way) result; \
                const struct item *all = items; \
                for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3) \
                        result = all[at % ITEMS].way; \
        }
READERS(READER)
#define CALL(function, way) read_##function();
#define READ(function, way) printf("read\tread_%s\t%s\n", #function, #way);
#define PLACE(way) show(#way, (char *)&one.way - (char *)&one, sizeof(one.way), 0, 1);
#define PLACES(way, n, rest) \
        show(#way "[]" #rest, (char *)&one.way[0] rest - (char *)&one, sizeof(one.way[0] rest), \
             sizeof(one.way[0]), n);
#define BITS(way) \
        memset(&one, 0, sizeof(one)); \
        one.way--; \
        show_bits(#way, (const unsigned char *)&one);

static void show(const char *name, size_t offset, size_t bytes, size_t step, size_t count)
{
        printf("field\t%s\t%zu\t%zu\t%zu\t%zu\n", name, offset, bytes, step, count);
}

static void show_bits(const char *name, const unsigned char *bytes)
{
        size_t first = 0, last = sizeof(struct item) - 1;
        while (bytes[first] == 0)
                first++;
        while (bytes[last] == 0)
                last--;
        show(name, first, last + 1 - first, 0, 1);
}

int main(void)
{
        static struct item one;
        FIELDS(PLACE, PLACES)
        BITS(flags.b.low) BITS(flags.b.middle) BITS(flags.b.high)
        READERS(READ)
        printf("size\t%zu\n", sizeof(struct item));
        items = (struct item *)calloc(ITEMS, sizeof(struct item));
        READERS(CALL)
        return 0;
}
END
cat >check.py <<'END'
import collections, re, sqlite3, subprocess, sys

fields, reads = {}, {}
for line in open(sys.argv[2]):
    kind, *cells = line.rstrip("\n").split("\t")
    if kind == "field":
        fields[cells[0]] = list(map(int, cells[1:]))
    elif kind == "read":
        reads[cells[0]] = re.sub(r"\[\d\]", "[]", cells[1])
    else:
        size = int(cells[0])


def fields_of(said):
    first, *others = said.split("|")
    way = first[:first.rfind(".") + 1]
    return [first] + [name.removeprefix(".") if "." in name else way + name for name in others]


def lies_at(name, at, end):
    offset, size, step, count = fields[name]
    return any(offset + i * step < end and at < offset + i * step + size for i in range(count))


db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
problems, met, places, several = collections.Counter(), set(), collections.Counter(), 0
for function, said, start, size_bytes, offset, access in db.execute("""
        SELECT v.function, t.name, t.offset_bytes, t.size_bytes, a.object_offset_bytes, v.access_bytes
        FROM sample_view AS v JOIN attribution AS a USING (sample_id)
        JOIN type_field AS t ON t.field_id = a.field_id WHERE v.op <> 'NA' AND v.type IN ('struct item', 'item')"""):
    at, names = offset % size, fields_of(said)
    places[at, access] += 1
    if function not in reads:
        continue
    met.add(function)
    true = reads[function]
    several += len(names) > 1
    if not fields.keys() >= set(names):
        problems[f"{function}: {said} has what is no field"] += 1
        continue
    if true not in names:
        problems[f"{function}: {true} is not in {said}"] += 1
    for name in names:
        if not lies_at(name, at, at + access):
            problems[f"{function}: {name} of {said} is not at {at}"] += 1
    starts = [fields[name][:2] for name in names]
    bits = [name for name in names if name.startswith("flags.b.")]
    begin = min(s[0] for s in starts) if bits == names else \
        max(fields[name][0] for name in names if name not in bits)
    if (start, size_bytes) != (begin, max(sum(s) for s in starts) - begin):
        problems[f"{function}: {said} is at {start}, {size_bytes} bytes"] += 1
    widths = [fields[name][1] == access for name in names]
    if widths != sorted(widths, reverse=True):
        problems[f"{function}: {said} are not led by those of {access} bytes"] += 1
charged = 0
for name, samples, undecided in db.execute("""
        SELECT field, samples, undecided_samples FROM type_view WHERE type IN ('struct item', 'item')"""):
    charged += samples
    if name not in fields:
        continue
    there = sum(n for (at, access), n in places.items() if lies_at(name, at, at + (access or 1)))
    if samples + undecided > there:
        problems[f"{name} is charged with {samples} to {samples + undecided} samples of {there}"] += 1
print(f"{sys.argv[1]}: {len(met)} of {len(reads)} functions, {sum(places.values())} samples, "
      f"{several} of several fields")
if len(met) != len(reads) or several < 500 or charged != sum(places.values()):
    problems[f"functions that are met, or samples that are charged: {charged}"] += 1
for text, count in problems.most_common():
    print(f"  {count} {text}")
sys.exit(bool(problems))
END
cp fields.c fields.cc
failed=0
for how in "gcc -O1" "gcc -O2" "clang -O2" "g++ -O2" "clang++ -O1"; do
        compiler=${how% *}
        command -v "$compiler" >/dev/null || continue
        case $compiler in *++) source=fields.cc ;; *) source=fields.c ;; esac
        # shellcheck disable=SC2086 # the compiler and its option
        $how -g -w -o fields.out $source
        ends 0 "$MEMLAG" record --force -o "$compiler.db" $LOADS --ldlat 1 --period 31 -- ./fields.out >truth
        mv $source hidden # which names the members, too
        ends 0 "$MEMLAG" symbolize --drop-names "$compiler.db"
        ends 0 "$MEMLAG" analyze "$compiler.db"
        mv hidden $source
        python3 check.py "$compiler.db" truth || failed=1
done
exit $failed
