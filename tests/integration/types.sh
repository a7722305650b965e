#!/bin/sh
# SPDX-License-Identifier: MIT
# The object, type and field of each sample in programs whose objects are all known by construction
# (types/): optimised, with gcc and clang, in C and C++. Every answer must be right, and most
# samples must have one.
. "$SOURCE_DIR/tests/integration/library.sh"

# check_reasons DB WHICH COUNTS: the samples of unresolved_view for WHICH are COUNTS, by subject and
# reason.
check_reasons()
{
        holds "$1" "" "
                WITH counted AS (SELECT subject, reason, count(*) AS samples
                        FROM unresolved_view WHERE $2 GROUP BY subject, reason),
                said (subject, outcome, samples) AS ($3)
                SELECT group_concat(coalesce(outcome, reason)) FROM said
                FULL JOIN counted ON counted.subject = said.subject AND reason = outcome
                WHERE said.samples IS NOT counted.samples"
}

# The ledger and the resolved samples together are all samples with an address, once each.
check_ledger()
{
        holds "$1" "1|1" "SELECT
                (SELECT count(field_id) FROM attribution) + total(value)
                        FILTER (WHERE kind LIKE 'samples with no type:%') = (SELECT count(addr) FROM sample),
                (SELECT count(*) FROM attribution JOIN data_object USING (object_id)
                        WHERE kind <> 'unknown') + total(value) FILTER (WHERE kind IN (
                        'samples with no object', 'samples in stack or thread-local memory')) =
                        (SELECT count(addr) FROM sample) FROM ledger"
        # Each sample by itself has the reason under which it is counted. Of types the ledger
        # counts samples with an address.
        check_reasons "$1" "1" "SELECT subject, outcome, samples FROM resolution
                WHERE outcome <> 'resolved'"
        check_reasons "$1" "subject = 'type' AND reason <> 'no data address'" \
                "SELECT 'type', substr(kind, 23), value FROM ledger
                WHERE kind LIKE 'samples with no type:%' AND value > 0"
}

# build NAME COMPILER SOURCE [OPTION...]
build()
{
        name=$1 compiler=$2 source=$SOURCE_DIR/tests/integration/types/$3
        shift 3
        "$compiler" -g -O2 -pthread "$@" -o "$name" "$source"
}

mkdir -p debug

# separate NAME: keeps its debug information in another file, below debug/.
separate()
{
        id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
        mkdir -p "debug/.build-id/${id%"${id#??}"}"
        objcopy --only-keep-debug "$1" "debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
        strip -g "$1"
}

# measured NAME PERCENT COMPILER SOURCE [OPTION...]: builds and records it, and compares the answers
# with the program's own output. 95 % of the objects and PERCENT of the fields must be right.
measured()
{
        measured=$1 percent=$2
        shift 2
        build "$measured" "$@"
        record_truth "$measured"
        check "$measured" "$percent"
}

record_truth()
{
        TRUTH=$1.truth "$MEMLAG" record -o "$1.db" $LOADS --ldlat 1 --period 53 \
                -- "./$1" words >"$1.out" 2>&1 || fail "$1: $(cat "$1.out")"
}

# name_and_check NAME [PERCENT]: with the debug information below debug/
name_and_check()
{
        "$MEMLAG" symbolize --debuginfo-path=debug "$1.db" 2>"$1.named" ||
                fail "$1: symbolize: status $?: $(cat "$1.named")"
        check "$@"
}

check()
{
        name=$1
        python3 "$SOURCE_DIR/tests/integration/types/check.py" \
                "$name.db" "$name.truth" --fields "${2:-97}" || fail "$name: not as it is known to be"
        check_ledger "$name.db"
}

head -c 4096 /dev/zero >words
measured c_gcc 96 gcc program.c
# Optimised as a whole, many functions are copies, which may be folded ones.
measured c_gcc_lto 92 gcc program.c -flto
# Indexes that count from one, or are added to the offset of an array.
holds c_gcc.db '1|0' "SELECT count(*) > 100, sum(field_id IS NULL) FROM attribution
        JOIN location USING (location_id) JOIN data_object USING (object_id) WHERE kind = 'heap'
        AND location.function IN ('search_towers', 'descend', 'descend_from_one')"
# Bit-fields in the same bytes are named together.
holds c_gcc.db 'visits|colour|rank' "SELECT group_concat(DISTINCT field) FROM sample_view
        WHERE function = 'sum_ranks' AND type = 'struct tree'"
measured cxx_gcc 97 g++ program.cc
# Without optimisation, the called function gives the type of a call's result.
measured cxx_gcc_O0 97 g++ program.cc -O0
# Members of virtual bases stay unresolved.
measured containers_gcc "$(by_version g++ 12 94 92)" g++ containers.cc -std=c++17
# What programs lay out by hand. Newer compilers keep fewer of the
# variables that prove an index.
measured structures_gcc "$(by_version gcc 12 93 79)" gcc structures.c
measured structures_gcc_O0 91 gcc structures.c -O0
# Arrays behind others, or behind a header, in one block: every read in loops over items has a type,
# in each copy of the loads that the compiler makes.
behind()
{
        measured "$1" "$4" "$2" behind.c "$3"
        holds "$1.db" 0 "SELECT count(*) FROM sample_view WHERE field IS NULL AND object_kind = 'heap'
                AND function IN ('weigh_all', 'add_targets', 'add_units', 'xor_limbs')"
}
for level in -O1 -O2 -O3; do
        behind "behind_gcc$level" gcc $level 50
done
# Blocks and functions with several types, some of them known: the evidence for one type must not
# give it to the others.
measured shared_gcc 50 gcc shared.c
# A header whose size divides its block's shows nothing about the memory behind it.
measured overlay_gcc 36 gcc overlay.c
# Nor does the register of calloc()'s item size when another function is called.
measured arguments_gcc 20 gcc arguments.c
holds arguments_gcc.db '1|0' "SELECT count(*) > 100, sum(field_id IS NULL) FROM attribution
        JOIN location USING (location_id) JOIN data_object USING (object_id) WHERE kind = 'heap'
        AND location.function = 'add_values'"
# The allocation tells what merged functions read.
# Newer compilers merge them only where types do not tell what memory overlaps.
measured shared_gcc_lto 50 gcc shared.c -flto -fno-strict-aliasing
holds shared_gcc_lto.db 1 "SELECT count(DISTINCT function) FROM sample_view
        WHERE function IN ('walk_left', 'walk_right')"
holds shared_gcc_lto.db 'struct left left,struct left next,struct right after,struct right right' "
        SELECT group_concat(DISTINCT type || ' ' || field) FROM (
        SELECT type, field FROM sample_view WHERE function IN ('walk_left', 'walk_right')
        AND type IS NOT NULL ORDER BY 1, 2)"
if has clang; then
        measured shared_clang 50 clang shared.c
        behind behind_clang clang -O2 "$(by_version clang 14 50 45)"
        measured structures_clang "$(by_version clang 14 95 83)" clang structures.c
        # The lines of a split unit, which tell the copies of an unrolled loop's load, are in
        # the program.
        measured c_split_clang 97 clang program.c -gsplit-dwarf
        # Later versions call it once.
        holds c_split_clang.db '1|0' "SELECT count(*) > 5, sum(field_id IS NULL)
                FROM attribution JOIN location USING (location_id) JOIN data_object USING (object_id)
                WHERE kind = 'mmap' AND location.function = 'sum_mapped'"
        measured containers_clang "$(by_version clang++ 14 93 86)" clang++ containers.cc -std=c++17
        if find_libcxx; then
                # shellcheck disable=SC2086 # a list of options
                measured cxx_libcxx "$(by_version clang++ 14 99 92)" clang++ program.cc $libcxx
        else
                measured cxx_clang 97 clang++ program.cc
                echo "types.sh: SKIPPED with libc++: it is not installed" >&2
        fi
fi

# Fortran: names, arrays that are reached by descriptors, bounds that begin at 1.
if has gfortran; then
        measured arrays_gfortran 99 gfortran arrays.f90
        measured arrays_gfortran_O0 99 gfortran arrays.f90 -O0
fi

# Types in units of their own, and units in files of their own. The engine of the simulated
# PMU reads debug information too and gives up on these: it does not get to see it.
build cxx_units g++ program.cc -fdebug-types-section
separate cxx_units
record_truth cxx_units
name_and_check cxx_units
build c_split gcc program.c -gsplit-dwarf
separate c_split
record_truth c_split
name_and_check c_split 96
build cxx_split_units g++ program.cc -gsplit-dwarf -fdebug-types-section
readelf -SW cxx_split_units-program.dwo | grep -c '\.debug_info\.dwo' >sections
[ "$(cat sections)" -gt 1 ] || fail "no units of types in the split file"
record_truth cxx_split_units
check cxx_split_units
# repack NAME TOOL: the split file in a package beside the program instead, by TOOL.
repack()
{
        has "$2" || return 0
        "$2" -o "$1.dwp" "$1-program.dwo"
        rm "$1-program.dwo"
        name_and_check "$1"
}
repack cxx_split_units llvm-dwp

# A type's fields in the order of their layout, also those without samples.
"$MEMLAG" report --by type --format csv c_gcc.db >types.csv
python <<'END'
fields = [row for row in csv.DictReader(open("types.csv", encoding="utf-8"))
          if row["type"] == "struct node"]
assert [(f["field"], f["offset_bytes"]) for f in fields] == [
    ("next", "0"), ("key", "8"), ("where.x", "16"), ("where.y", "20"),
    ("where.weight", "24")], fields
assert int(fields[0]["samples"]) > 0 and fields[3]["samples"] == "0", fields
END
"$MEMLAG" report -v --by type c_gcc.db | grep -q 'struct node  *where.weight' || fail "no table"

# Padding as the compiler places it: between the fields, and behind the last. Arrays, unions and
# bit-fields fill their memory.
cat >padded.c <<'END'
enum { ITEMS = 4096 };
struct padded {
        char tag;
        struct padded *next;
        char name[13];
        union { double real; char letter; } as;
        unsigned low : 3, high : 9;
        int rest1;
        char rest2;
        long rest3;
        char rest4;
};
struct full {
        struct full *next;
        struct { char small; long large; } items[3];
        union { char raw[24]; struct { long x, y, z; } point; } as;
        unsigned low : 16, high : 16;
        int length;
        char data[];
};
static __attribute__((noinline)) double walk(const struct padded *at, int steps)
{
        double sum = 0;
        for (; steps > 0; steps--, at = at->next)
                sum += at->tag + at->name[steps % 13] + at->as.real + at->low + at->high;
        return sum;
}
static __attribute__((noinline)) long walk_full(const struct full *at, int steps)
{
        long sum = 0;
        for (; steps > 0; steps--, at = at->next)
                sum += at->items[steps % 3].large + at->as.point.y + at->length;
        return sum;
}
#define END(field) (offsetof(struct padded, field) + sizeof(((struct padded *)0)->field))
#define PADDING(from, to) printf("%zu|%zu\n", from, (to) - (from))
int main(void)
{
        struct padded *items = calloc(ITEMS, sizeof(*items));
        struct full *full = calloc(ITEMS, sizeof(*full));
        for (int i = 0; i < ITEMS; i++) {
                items[i].next = &items[(i + 1) % ITEMS];
                full[i].next = &full[(i + 1) % ITEMS];
        }
        double sum = walk(items, 4 * ITEMS) + walk_full(full, 4 * ITEMS);
        PADDING(END(tag), offsetof(struct padded, next));
        PADDING(END(name), offsetof(struct padded, as));
        PADDING(END(as) + 2, offsetof(struct padded, rest1)); /* the bit-fields are in two bytes */
        PADDING(END(rest2), offsetof(struct padded, rest3));
        PADDING(END(rest4), sizeof(struct padded));
        return sum == 1;
}
END
for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        $compiler -g -O1 -include "$SOURCE_DIR/tests/integration/target.h" -o padded padded.c
        record padded $LOADS --ldlat 1 --period 7 -- ./padded
        holds padded.db "$(grep '^[0-9]*|[0-9]*$' out)" "SELECT offset_bytes, p.size_bytes FROM type_padding AS p
                JOIN data_type USING (type_id) WHERE name = 'struct padded' ORDER BY 1"
        # Nothing of the other one, which samples are of.
        holds padded.db '1|0' "SELECT count(DISTINCT type_id), count(p.type_id) FROM data_type
                LEFT JOIN type_padding AS p USING (type_id) WHERE name = 'struct full'"
done

# The programs below are of gcc.
CC=gcc

# Every load of a loop is a sample: each field has as many samples as the loop has steps, with their
# latency, on the cache line of its offset.
program wide <<'END'
enum { NODES = 4096, STEPS = 20000 };
struct wide { struct wide *next; char gap[64]; long second; long unread; };
static __attribute__((noinline)) long walk(const struct wide *node)
{
        long sum = 0;
        for (int i = 0; i < STEPS; i++) {
                sum += node->second;
                node = node->next;
        }
        return sum;
}
int main(void)
{
        struct wide *nodes = calloc(NODES, sizeof(*nodes));
        for (int i = 0; i < NODES; i++)
                nodes[i].next = &nodes[(i + 1001) % NODES];
        return walk(nodes) != 0;
}
END
record wide $LOADS --ldlat 1 --period 1 -- ./wide
"$MEMLAG" report --by type --format csv wide.db >wide.csv
python <<'END'
fields = {row["field"]: row for row in csv.DictReader(open("wide.csv", encoding="utf-8"))
          if row["type"] == "struct wide"}
assert [(name, row["offset_bytes"], row["cache_line"], row["samples"])
        for name, row in fields.items()] == [
    ("next", "0", "0", "20000"), ("gap[]", "8", "0", "0"), ("second", "72", "1", "20000"),
    ("unread", "80", "1", "0")], fields
db = sqlite3.connect("wide.db")
base = db.execute("SELECT addr FROM allocation WHERE function = 'calloc'").fetchone()[0]
for name, offset in (("next", 0), ("second", 72)):
    mean, = db.execute("SELECT avg(latency_cycles) FROM sample JOIN attribution USING (sample_id)"
                       " JOIN location USING (location_id) WHERE location.function = 'walk'"
                       " AND (addr - ?) % 88 = ?", (base, offset)).fetchone()
    assert abs(float(fields[name]["mean_latency_cycles"]) - mean) < 0.01, (name, mean, fields)
END

# A load of several fields counts for the first. The number of loads that read each of the others is
# reported.
program pairs <<'END'
enum { ITEMS = 1000 };
typedef long two __attribute__((vector_size(16), aligned(8), may_alias));
typedef long one __attribute__((may_alias));
struct item { long a, b; int x, y; long c[3], d, unread; };
#define EACH(name, sum, from) \
        static __attribute__((noinline)) long name(const struct item *items) \
        { \
                sum; \
                for (int i = 0; i < ITEMS; i++) \
                        all += from; \
                return *(const one *)&all; \
        }
EACH(pairs, two all = {0}, *(const two *)&items[i].a)
/* Both only moved: an addition would be to one number. */
static volatile long halves_moved;
EACH(halves, long all = 0, (halves_moved = *(const one *)&items[i].x, 0))
EACH(ends, two all = {0}, *(const two *)&items[i].c[2])
EACH(parts, two all = {0}, *(const two *)&items[i].c[0])
EACH(single, long all = 0, items[i].b)
int main(void)
{
        const struct item *items = calloc(ITEMS, sizeof(*items));
        return (pairs(items) + halves(items) + ends(items) + parts(items) + single(items)) != 0;
}
END
# A load that aliases with a store is made twice, and so counted twice.
record pairs $LOADS --sim-set l1d.alias4k_cycles=0 --ldlat 1 --period 1 -- ./pairs
holds pairs.db 'a 1000 0, b 1000 1000, x 1000 0, y 0 1000, c[] 2000 0, d 0 1000, unread 0 0' "
        SELECT group_concat(field || ' ' || samples || ' ' || wide_samples, ', ')
        FROM type_view WHERE type = 'struct item'"
"$MEMLAG" report -v --by type --top 0 pairs.db | grep -q ' 0  *1000 .*struct item  *y$' ||
        fail "no count of wide loads in the table"

# The C library's string functions read characters, regardless of their instructions and the block's
# allocation. Its memcpy may read anything.
program texts -fno-builtin <<'END'
enum { BYTES = 4096, ROUNDS = 200 };
char copy[2 * BYTES];
int main(void)
{
        volatile size_t sum = 0;
        char *volatile texts = malloc(2 * BYTES);
        void *volatile things = malloc(2 * BYTES);
        memset(texts, 'a', BYTES - 1);
        texts[BYTES - 1] = 0;
        for (int i = 0; i < ROUNDS; i++) {
                sum += strlen(texts);
                memcpy(copy, things, 2 * BYTES - (size_t)i);
        }
        return sum != (size_t)ROUNDS * (BYTES - 1);
}
END
record texts $LOADS --ldlat 1 --period 7 -- ./texts
read_by()
{
        answer texts.db "SELECT count(*) > 100, group_concat(DISTINCT coalesce(data_type.name, '-'))
                FROM attribution JOIN location USING (location_id)
                JOIN data_object USING (object_id) LEFT JOIN type_field USING (field_id)
                LEFT JOIN data_type USING (type_id)
                WHERE kind = 'heap' AND location.function LIKE '$1'"
}
if [ "$(read_by '%strlen%')" = '0|' ]; then
        echo "types.sh: SKIPPED strings: the C library's functions have no names (libc6-dbg)" >&2
else
        [ "$(read_by '%strlen%')" = '1|char' ] || fail "strlen reads $(read_by '%strlen%')"
        [ "$(read_by '%mem%')" = '1|-' ] || fail "memcpy reads $(read_by '%mem%')"
fi
check_ledger texts.db

# Samples without an address, and where nothing was mapped: each is counted under its reason.
sqlite3 texts.db "DELETE FROM name_source;
        UPDATE sample SET addr = iif(sample_id % 2, NULL, 64) WHERE sample_id IN (
                SELECT sample_id FROM attribution JOIN data_object USING (object_id)
                WHERE kind = 'heap') AND sample_id % 5 < 2"
"$MEMLAG" symbolize texts.db
reasons=$(answer texts.db "SELECT sum(addr IS NULL) || ' ' || sum(addr IS 64) FROM sample")
holds texts.db "$reasons" "SELECT group_concat(samples, ' ') FROM resolution WHERE subject = 'object'
        AND outcome IN ('no data address', 'nothing mapped')"
check_ledger texts.db

# Names of wrappers that only hand memory on.
echo 'make_*' >wrappers
"$MEMLAG" symbolize --allocators=wrappers --allocator=read_heap c_gcc.db
holds c_gcc.db 0 "SELECT count(*) FROM data_object WHERE kind = 'heap'
        AND (name LIKE 'make_%' OR name LIKE 'read_heap at %')"
holds c_gcc.db 1 "SELECT count(*) > 0 FROM data_object WHERE name LIKE 'main at %'"
refuses 1 "'missing': No such file" "$MEMLAG" symbolize --allocators=missing c_gcc.db

# Pools hand memory on in pieces: a block belongs to who made them ask for it.
program pools <<'END'
#include <obstack.h>
#define obstack_chunk_alloc chunk
#define obstack_chunk_free free
enum { ITEMS = 4096, ROUNDS = 100000 };
/* Each pool, and the function that uses it. */
#define POOLS(of) of(_objalloc_alloc) of(apr_palloc) of(ngx_palloc_block) of(_talloc_zero) \
        of(ggc_internal_alloc) of(MemoryContextAlloc) of(arena_alloc)
#define USE(pool) \
        NOINLINE static void *pool(size_t bytes) { return malloc(bytes); } \
        NOINLINE static long use_##pool##_items(void) \
        { \
                volatile long *items = pool(ITEMS * sizeof(long)); \
                long sum = 0; \
                for (int i = 0; i < ROUNDS; i++) \
                        sum += items[i % ITEMS]++; \
                return sum; \
        }
POOLS(USE)
static void *chunk(size_t bytes) { return malloc(bytes); }
NOINLINE static long use_obstack_items(struct obstack *stack)
{
        volatile long *items = obstack_alloc(stack, ITEMS * sizeof(long));
        long sum = 0;
        for (int i = 0; i < ROUNDS; i++)
                sum += items[i % ITEMS]++;
        return sum;
}
int main(void)
{
        struct obstack stack;
        obstack_init(&stack);
        long sum = use_obstack_items(&stack);
#define CALL(pool) sum += use_##pool##_items();
        POOLS(CALL)
        return sum == 1;
}
END
record pools $LOADS --ldlat 1 --period 53 -- ./pools
"$MEMLAG" symbolize --allocator=chunk pools.db
"$MEMLAG" analyze pools.db
holds pools.db '8|1' "SELECT count(DISTINCT alloc_function), min(alloc_function LIKE 'use_%')
        FROM data_object JOIN object_finding USING (object_id)
        WHERE kind = 'heap' AND samples > 20"

# An allocation inside a named allocator belongs to its caller. A name without any effect is
# reported.
program helped <<'END'
NOINLINE static void *core(size_t bytes) { return malloc(bytes); }
NOINLINE static void *more_core(size_t bytes) { char *p = core(bytes + 8); return p + 8; }
NOINLINE static void *take(size_t bytes) { char *p = more_core(bytes); return p + 8; }
NOINLINE static long feed(void)
{
        volatile long *animals = take(4096 * sizeof(long));
        long sum = 0;
        for (int i = 0; i < 100000; i++)
                sum += animals[i % 4000]++;
        return sum;
}
int main(void) { return feed() == 1; }
END
record helped $LOADS --ldlat 1 --period 53 -- ./helped
"$MEMLAG" symbolize --allocator=take --allocator=tacke helped.db 2>err
holds helped.db feed "SELECT DISTINCT alloc_function FROM data_object WHERE kind = 'heap'
        AND name LIKE '% at helped.c:%'"
[ "$(grep -c 'no block was allocated through' err)" -eq 1 ] && grep -q "'tacke'" err ||
        fail "a name that nobody has: $(cat err)"

# A variable belongs to the function that declares it, also if that is inlined.
program inlined -O2 <<'END'
static inline __attribute__((always_inline)) long count_up(int times)
{
        volatile long table[4096] = {0};
        long sum = 0;
        for (int i = 0; i < times; i++)
                sum += table[(unsigned)rand() % 4096]++;
        return sum;
}
int main(void)
{
        volatile long own[64] = {0};
        long sum = 0;
        for (int i = 0; i < 64000; i++)
                sum += own[i % 64]++;
        return count_up(100000) + sum == 7;
}
END
record inlined $LOADS --ldlat 1 --period 53 -- ./inlined
holds inlined.db 'count_up::table main::own' "SELECT group_concat(name, ' ') FROM (
        SELECT DISTINCT name FROM data_object WHERE kind = 'stack'
        AND name IN ('count_up::table', 'main::table', 'main::own') ORDER BY name)"
