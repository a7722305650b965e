#!/bin/sh
# SPDX-License-Identifier: MIT
# Arrays that lie behind others, or behind a header, in one block (types/behind.c). A loop
# over one of them is told in each copy of its loads that the compiler makes; what the
# header's pointer leads to behind the header is no header. And what lies in the bytes of a
# union is none of its other members.
set -eu
. "$SOURCE_DIR/tests/integration/compilers.sh"

fail()
{
        echo "arrays_behind.sh: $*" >&2
        exit 1
}

# check COMPILER OPTION PERCENT: none is wrong, PERCENT are right, and all that loops over
# items read.
check()
{
        name=behind_$1$2
        "$1" -g "$2" -o "$name" "$SOURCE_DIR/tests/integration/types/behind.c"
        TRUTH=$name.truth "$MEMLAG" record -o "$name.db" $LOADS --ldlat 1 --period 53 \
                -- "./$name" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
        PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE_DIR/tests/integration/types/check.py" \
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

# Rows in a page's bytes, which share their place with arrays of structures.
cat >pages.c <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
struct page {
        uint32_t number, kind;
        uint64_t time;
        union {
                struct { uint64_t max; struct { uint64_t key; uint32_t row, version; double value; } e[40]; } leaf;
                struct { uint32_t left, rest; struct { uint64_t key; uint32_t child, sum; } e[62]; } in;
                uint8_t raw[1008];
        } u;
};
struct row { uint32_t id; uint16_t length, column; int64_t balance; char text[]; };
enum { ROWS = 3000 };
static struct page *pages;
static uint16_t offset[ROWS];
static uint32_t number[ROWS];
static volatile double result;
static struct row *row_at(int i)
{
        return (struct row *)(pages[number[i]].u.raw + offset[i]);
}
__attribute__((noinline)) static double sum_rows(void)
{
        double sum = 0;
        for (int i = 0; i < ROWS; i++) {
                struct row *row = row_at(i);
                sum += row->id + row->column;
                if (row->length & 1)
                        sum += row->balance;
        }
        return sum;
}
int main(void)
{
        pages = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int i = 0; i < ROWS; i++) {
                number[i] = i * 7 % 1000;
                offset[i] = i / 1000 * 320 + i % 8 * 8;
                row_at(i)->length = i;
        }
        for (int i = 0; i < 30; i++)
                result += sum_rows();
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
        "$MEMLAG" record --force -o "$name.db" $LOADS --ldlat 1 --period 17 -- \
                "./$name" >"$name.out" 2>&1 || fail "$name: $(cat "$name.out")"
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
        check_own pages "type = 'struct page' AND field NOT LIKE '%raw%'" "$@"
}

check gcc -O1 50
check gcc -O2 50
check gcc -O3 50
check_files gcc -O2
if ! command -v clang >/dev/null; then
        echo "arrays_behind.sh: SKIPPED: clang is not installed" >&2
        exit 77
fi
check clang -O2 "$(by_version clang 14 50 45)"
check_files clang -O1
check_files clang -O2
