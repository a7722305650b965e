#!/bin/sh
# SPDX-License-Identifier: MIT
# What the C library's memcpy and memcmp read, in blocks of which the allocation says
# nothing: by the pointers that they are called with, and never what these are not to.
. "$SOURCE_DIR/tests/integration/library.sh"

# Blocks are made in the function with the name of what is in them.
cat >copies.c <<'END'
#include <stdlib.h>
#include <string.h>
enum { COUNT = 400, ITEMS = 256 };
struct record { long key; int left, right; double weight; };
struct large { long id; char name[56]; double weights[100]; };
static volatile long sink;
__attribute__((noinline)) void *make(size_t bytes)
{
        void *block = malloc(bytes);
        memset(block, 1, bytes);
        return block;
}
#define BLOCKS(name, bytes) \
        __attribute__((noinline)) static void name(void **blocks) \
        { \
                for (int i = 0; i < COUNT; i++) \
                        blocks[i] = make(bytes); \
                sink++; \
        }
BLOCKS(ints, ITEMS * sizeof(int))
BLOCKS(doubles, ITEMS * sizeof(double))
BLOCKS(texts, 1000)
BLOCKS(large, sizeof(struct large))
BLOCKS(records, ITEMS * sizeof(struct record))
BLOCKS(pairs, 2 * sizeof(struct large))
__attribute__((noinline)) static void copy_ints(int *to, const int *from)
{
        memcpy(to, from, ITEMS * sizeof(*to));
}
__attribute__((noinline)) static int same_doubles(const double *a, const double *b)
{
        return memcmp(a, b, ITEMS * sizeof(*a)) == 0;
}
__attribute__((noinline)) static int same_texts(const char *a, const char *b)
{
        return memcmp(a, b, 1000) == 0;
}
__attribute__((noinline)) static void copy_large(struct large *to, const struct large *from)
{
        memcpy(to, from, sizeof(*to));
}
/* The pointers are to bytes, and what is there is not. */
__attribute__((noinline)) static int same_bytes(const char *a, const char *b)
{
        return memcmp(a, b, ITEMS * sizeof(struct record)) == 0;
}
__attribute__((noinline)) static long keys(const struct record *records)
{
        long sum = 0;
        for (int i = 0; i < ITEMS; i++)
                sum += records[i].key;
        return sum;
}
int main(void)
{
        static void *a[COUNT], *b[COUNT], *c[COUNT], *d[COUNT], *e[COUNT], *f[COUNT];
        static struct large large_copy;
        static int int_copy[ITEMS];
        ints(a);
        doubles(b);
        texts(c);
        large(d);
        records(e);
        pairs(f);
        for (int i = 1; i < COUNT; i++) {
                copy_ints(int_copy, a[i]);
                sink += same_doubles(b[i - 1], b[i]);
                sink += same_texts(c[i - 1], c[i]);
                copy_large(&large_copy, d[i]);
                sink += same_bytes(e[i - 1], e[i]);
                sink += keys(e[i]);
                copy_large(&large_copy, (struct large *)f[i] + i % 2);
        }
        return sink == 42;
}
END

# types_in DB OBJECT: what is read by such functions in the blocks made in OBJECT
types_in()
{
        sqlite3 -readonly -separator ' ' "$1" "
                SELECT coalesce(t.name, '-'), count(*)
                FROM attribution AS a JOIN location AS l USING (location_id)
                     JOIN data_object AS o USING (object_id)
                     LEFT JOIN type_field AS f ON f.field_id = a.field_id
                     LEFT JOIN data_type AS t ON t.type_id = f.type_id
                WHERE (l.function LIKE '%memmove%' OR l.function LIKE '%memcpy%'
                       OR l.function LIKE '%memcmp%') AND o.name LIKE '$2 at %'
                GROUP BY 1 ORDER BY 2 DESC"
}

# expect_type DB OBJECT TYPE: that and nothing else, often
expect_type()
{
        types_in "$1" "$2" >got
        [ "$(wc -l <got)" -eq 1 ] && read -r line <got && [ "${line% *}" = "$3" ] &&
                [ "${line##* }" -gt 300 ] || fail "$1: $2 is not $3 but: $(cat got)"
}

for how in "gcc -O2" "gcc -O2 -fno-plt -no-pie" "clang -O2" "gcc -O0"; do
        command -v "${how%% *}" >/dev/null || continue
        # shellcheck disable=SC2086 # a list of options
        $how -g -fno-builtin -fno-optimize-sibling-calls -o copies copies.c
        "$MEMLAG" record $LOADS --ldlat 1 --period 7 --force -o copies.db -- ./copies \
                >out 2>&1 || fail "$how: $(cat out)"
        "$MEMLAG" symbolize --allocator=make copies.db
        expect_type copies.db ints int
        expect_type copies.db doubles double
        expect_type copies.db texts char
        expect_type copies.db large 'struct large'
        expect_type copies.db records -
        reasons=$(sqlite3 -readonly copies.db "SELECT DISTINCT reason FROM unresolved_view
                JOIN sample_view USING (sample_id) WHERE subject = 'type'
                AND function LIKE '%memcmp%' AND object LIKE 'records at %'")
        [ "$reasons" = 'bytes without a type' ] ||
                fail "$how: compared by pointers to bytes: $reasons"
        # Which of the two is copied is not known.
        expect_type copies.db pairs -
done
