#!/bin/sh
# SPDX-License-Identifier: MIT
# Arrays that lie behind others, or behind a header, in one block (types/behind.c). A loop
# over one of them is told in each copy of its loads that the compiler makes; what the
# header's pointer leads to behind the header is no header. And what lies in the bytes of a
# union is none of its other members.
. "$SOURCE_DIR/tests/integration/library.sh"

# check COMPILER OPTION PERCENT: none is wrong, PERCENT are right, and all that loops over
# items read.
check()
{
        name=behind_$1$2
        "$1" -g "$2" -o "$name" "$SOURCE_DIR/tests/integration/types/behind.c"
        TRUTH=$name.truth "$MEMLAG" record -o "$name.db" $LOADS --ldlat 1 --period 53 \
                -- "./$name" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
        python3 "$SOURCE_DIR/tests/integration/types/check.py" \
                "$name.db" "$name.truth" --fields "$3" || fail "$name: not as it is known to be"
        open=$(sqlite3 -readonly "$name.db" "SELECT count(*) FROM sample_view
                WHERE function IN ('weigh_all', 'add_targets', 'add_units', 'xor_limbs') AND field IS NULL
                AND object_kind = 'heap'")
        [ "$open" -eq 0 ] || fail "$name: of loops over items $open samples have no field"
}

# A header, records of its size and texts in one mapping, all reached from the header.
cat >file.c <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
struct header { char magic[8]; uint32_t records, size; uint64_t texts; uint32_t flags, version; };
struct record { uint64_t key; uint32_t text, length; double value; uint32_t tag, rest; };
enum { RECORDS = 6000, ALL = 32 + 32 * RECORDS };
static struct header *header;
static volatile double result;
__attribute__((noinline)) static double sum_records(void)
{
        const struct record *record = (const struct record *)(header + 1);
        double sum = 0;
        for (uint32_t i = 0; i < header->records; i++) {
                sum += record[i].value;
                if (record[i].tag & 1)
                        sum += record[i].length;
        }
        return sum;
}
__attribute__((noinline)) static uint64_t sum_texts(void)
{
        const struct record *record = (const struct record *)(header + 1);
        const char *texts = (const char *)header + header->texts;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < header->records; i++)
                for (const char *at = texts + record[i].text; *at; at++)
                        sum += *at;
        return sum;
}
int main(void)
{
        header = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        header->records = RECORDS;
        header->texts = ALL;
        struct record *record = (struct record *)(header + 1);
        for (int i = 0; i < RECORDS; i++) {
                record[i].tag = i;
                record[i].text = i & 1023;
                ((char *)header)[ALL + i] = i & 1;
        }
        for (int i = 0; i < 20; i++)
                result += sum_records() + sum_texts();
        return 0;
}
END

# check_own NAME WRONG COMPILER OPTION...: no sample in a mapping that NAME's functions
# sum_* read has what WRONG, in SQL, says of it.
check_own()
{
        name=$1 wrong=$2
        shift 2
        "$@" -g -o "$name" "$name.c"
        record "$name" $LOADS --ldlat 1 --period 17 -- "./$name"
        said=$(sqlite3 -readonly "$name.db" "SELECT count(*) > 100, group_concat(DISTINCT
                CASE WHEN $wrong THEN instruction || ': ' || type || '.' || field END)
                FROM sample_view JOIN attribution USING (sample_id)
                WHERE function LIKE 'sum_%' AND object_kind = 'mmap'")
        [ "$said" = "1|" ] || fail "$*: $name is said to have $said"
}

# check_files COMPILER OPTION...
check_files()
{
        check_own file "type = 'struct header' AND object_offset_bytes >= 32" "$@" -DSIZE="1 << 18"
        # no whole number of headers
        check_own file "type = 'struct header' AND object_offset_bytes >= 32" "$@" -DSIZE="(1 << 18) + 4104"
}

check gcc -O1 50
check gcc -O2 50
check gcc -O3 50
check_files gcc -O2
if ! command -v clang >/dev/null; then
        skip "clang is not installed"
fi
check clang -O2 "$(by_version clang 14 50 45)"
check_files clang -O1
check_files clang -O2
