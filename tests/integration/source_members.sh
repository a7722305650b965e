#!/bin/sh
# SPDX-License-Identifier: MIT
# Members of a union that instructions do not tell apart: the source at their line and column
# does, unless it has changed since, or the compiler made one access of two.
set -eu

fail()
{
        echo "source_members.sh: $*" >&2
        exit 1
}

cat >members.c <<'END'
#include <stdint.h>
#include <stdlib.h>
enum { RECORDS = 4096, READS = 20000 };
struct record {
        uint32_t version, id;
        union {
                struct { uint16_t port, weight; uint32_t ttl; } service;
                struct { uint32_t serial, refresh; const struct record *primary; } zone;
                struct { uint64_t first; const struct record *target; } name;
                uint8_t address[16];
        } u;
        uint64_t rest[5];
};
static volatile uint64_t result;
static volatile uint8_t kinds[RECORDS];
#define READ(name, expression) \
        static __attribute__((noinline)) void name(const struct record *records) \
        { \
                uint64_t sum = 0; \
                for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3) { \
                        const struct record *r = &records[at % RECORDS]; \
                        sum += expression(r); \
                } \
                result = sum; \
        }
static inline uint64_t get_port(const struct record *r) { return r->u.service.port; }
static inline uint64_t get_weight(const struct record *r) { return r->u.service.weight; }
static inline uint64_t get_third(const struct record *r) { return r->u.address[3]; }
static inline uint64_t get_refresh(const struct record *r) { return r->u.zone.refresh; }
static inline uint64_t get_primary(const struct record *r) { return r->u.zone.primary->id; }
static inline uint64_t get_compared(const struct record *r) { return r->u.zone.serial < 77; }
READ(port, get_port)
READ(weight, get_weight)
READ(third, get_third)
READ(refresh, get_refresh)
READ(primary, get_primary)
READ(compared, get_compared)

/* gcc makes one of two cases: what is said of it must not be the other one's. */
static __attribute__((noinline)) void cases(const struct record *records)
{
        uint64_t sum = 0;
        for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3) {
                const struct record *r = &records[at % RECORDS];
                switch (kinds[at % RECORDS]) {
                case 5:
                        sum += r->u.service.ttl;
                        break;
                case 6:
                        sum ^= at;
                        break;
                default:
                        sum += r->u.zone.refresh;
                        break;
                }
        }
        result = sum;
}

static __attribute__((noinline)) uint32_t chosen(const struct record *r, int kind)
{
        switch (kind) {
        case 5:
                return r->u.service.ttl;
        case 6:
                return r->u.zone.refresh;
        }
        return 0;
}

int main(void)
{
        char *memory = calloc(RECORDS, sizeof(struct record));
        struct record *records = (struct record *)memory;
        for (int i = 0; i < RECORDS; i++)
                records[i].u.zone.primary = records;
        port(records);
        weight(records);
        third(records);
        refresh(records);
        compared(records);
        primary(records);
        for (int i = 0; i < RECORDS; i++)
                kinds[i] = 5;
        cases(records);
        for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3)
                result += chosen(&records[at % RECORDS], kinds[at % RECORDS]);
        return 0;
}
END
printf '%s\tstruct record\t%s\n' get_port u.service.port get_weight u.service.weight \
        get_third 'u.address[]' >small.truth
printf '%s\tstruct record\t%s\n' get_refresh u.zone.refresh get_compared u.zone.serial >wide.truth
printf '%s\tstruct record\tu.service.ttl\n' cases chosen >cases.truth

check()
{
        python3 "$SOURCE_DIR/tests/integration/nested/check.py" "$@" ||
                fail "$1: not as it is known to be"
}

# record COMPILER NAME OPTION...
record()
{
        compiler=$1 name=$2
        shift 2
        "$compiler" -g "$@" -o "$name.out" members.c
        "$MEMLAG" record -o "$name.db" $LOADS --ldlat 1 --period 7 -- \
                "./$name.out" >record.out 2>&1 || fail "$name: $(cat record.out)"
}

for compiler in gcc clang; do
        command -v "$compiler" >/dev/null || continue
        record "$compiler" "$compiler" -O2
        check "$compiler.db" small.truth 99
        check "$compiler.db" cases.truth 0
        # Of equal members gcc may have made one access.
        [ "$compiler" = gcc ] || check "$compiler.db" wide.truth 99
        cp "$compiler.db" "$compiler.later.db"
done

# What a program optimised as a whole is of gcc's, too.
record gcc lto -O2 -flto
check lto.db cases.truth 0

# Lines may have moved in what is newer than the program.
touch -d 'next year' members.c
for compiler in gcc clang; do
        [ -e "$compiler.later.db" ] || continue
        "$MEMLAG" symbolize --drop-names "$compiler.later.db" >record.out 2>&1 ||
                fail "$compiler: $(cat record.out)"
        if python3 "$SOURCE_DIR/tests/integration/nested/check.py" "$compiler.later.db" \
                small.truth 99 >record.out; then
                fail "$compiler: what changed was read"
        fi
        ! grep -q wrong record.out || fail "$compiler: $(cat record.out)"
done

# clang's column of `ptr->i` in a member function is that of `ptr`, which is loaded there; and
# what #line names has other columns than the code that was made of it.
if command -v clang++ >/dev/null; then
        cat >implicit.cc <<'END'
#include <cstdlib>
enum { RECORDS = 4096, READS = 20000 };
static volatile long result;
struct node { long pad, i, items[4]; };
struct record {
        long version;
        union { node *ptr; long i; long items[1]; };
        long rest[6];
        __attribute__((always_inline)) long get() const { return ptr->i; }
        __attribute__((always_inline)) long less() const { return i < ptr->i; }
        __attribute__((always_inline)) long item() const { return ptr->items[1]; }
};
#define current (r->ptr)
#define READ(name, expression) \
        static __attribute__((noinline)) void name(const record *records) \
        { \
                long sum = 0; \
                for (unsigned k = 0, at = 1; k < READS; k++, at = at * 5 + 3) { \
                        const record *r = &records[at % RECORDS]; \
                        sum += expression; \
                } \
                result = sum; \
        }
READ(get, r->get())
READ(less, r->less())
READ(item, r->item())
static __attribute__((noinline)) void macro(const record *records)
{
        long sum = 0;
        for (unsigned k = 0, at = 1; k < READS; k++, at = at * 5 + 3) {
                const record *r = &records[at % RECORDS];
                sum += current->i;
        }
        result = sum;
}
struct pair { union { long left; double other; long right; } u; };
static __attribute__((noinline)) void generated(const pair *pairs)
{
        long sum = 0;
        for (unsigned k = 0, at = 1; k < READS; k++, at = at * 5 + 3) {
                const pair *r = &pairs[at % RECORDS];
#line 1 "grammar.y"
                long value = r->u.left;
                sum += value * value;
        }
        result = sum;
}
int main()
{
        char *memory = (char *)calloc(RECORDS, sizeof(record));
        record *records = (record *)memory;
        node *nodes = (node *)calloc(RECORDS, sizeof(node));
        for (int i = 0; i < RECORDS; i++)
                records[i].ptr = nodes + i;
        get(records);
        less(records);
        item(records);
        macro(records);
        generated((pair *)calloc(RECORDS, sizeof(pair)));
}
END
        echo '                long value = r->u.right;' >grammar.y
        clang++ -g -O2 -o implicit implicit.cc
        "$MEMLAG" record --force -o implicit.db $LOADS --ldlat 1 --period 7 -- \
                ./implicit >record.out 2>&1 || fail "clang++: $(cat record.out)"
        said=$(sqlite3 -readonly implicit.db "SELECT DISTINCT function || ' ' || field
                FROM sample_view WHERE object_kind = 'heap' AND
                ((type = 'record' AND field IN ('i', 'items[]')) OR field = 'u.right')")
        [ -z "$said" ] || fail "clang++: another member is named: $said"
fi
