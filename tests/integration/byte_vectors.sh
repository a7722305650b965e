#!/bin/sh
# SPDX-License-Identifier: MIT
# A block is held as 'char *', and numbers of all sizes lie there: vectors of them are no
# 'char', but those of bytes, which are counted with one by one, are. And texts behind
# headers of numbers are no such numbers, of which one byte is read where they would be.
set -eu

fail()
{
        echo "byte_vectors.sh: $*" >&2
        exit 1
}

cat >vectors.c <<'END'
#include <stdint.h>
#include <stdlib.h>
enum { BYTES = 1 << 18 };
static char *memory;
static volatile uint64_t result;
static uint64_t copy[BYTES / 8];
#define AS(type) ((const type *)(const void *)memory)
__attribute__((noinline)) static uint64_t or_of_8(void)
{
        uint64_t all = 0;
        for (int i = 0; i < BYTES / 8; i++)
                all |= AS(uint64_t)[i];
        return all;
}
__attribute__((noinline)) static uint32_t sum_of_2(void)
{
        uint32_t sum = 0;
        for (int i = 0; i < BYTES / 2; i++)
                sum += AS(uint16_t)[i];
        return sum;
}
__attribute__((noinline)) static uint64_t gather_of_8(void)
{
        uint64_t sum = 0;
        for (int i = 0; i < BYTES / 8; i++)
                sum += AS(uint64_t)[i * 17 % (BYTES / 8)];
        return sum;
}
__attribute__((noinline)) static void swap_of_8(void)
{
        for (int i = 0; i < BYTES / 8; i += 2) {
                copy[i] = AS(uint64_t)[i + 1];
                copy[i + 1] = AS(uint64_t)[i];
        }
}
__attribute__((noinline)) static uint32_t sum_of_1(void)
{
        uint32_t sum = 0;
        for (int i = 0; i < BYTES; i++)
                sum += memory[i];
        return sum;
}
int main(void)
{
        memory = calloc(BYTES, 1);
        for (int i = 0; i < 20; i++) {
                result += or_of_8() + sum_of_2() + gather_of_8() + sum_of_1();
                swap_of_8();
                result += copy[i];
        }
        return 0;
}
END

cat >texts.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct chunk { uint32_t length, kind; };
struct text { uint32_t language, bytes; char text[56]; };
enum { COUNT = 20000, CHUNK_BYTES = sizeof(struct chunk) + sizeof(struct text) };
__attribute__((noinline)) static long chunks(const uint8_t *p, const uint8_t *end)
{
        long sum = 0;
        while (p < end) {
                const struct chunk *c = (const struct chunk *)p;
                p += sizeof *c;
                if (c->kind == 3) {
                        const struct text *t = (const void *)p;
                        for (uint32_t i = 0; i < t->bytes; i++)
                                sum += t->text[i];
                }
                p += c->length;
        }
        return sum;
}
int main(void)
{
        uint8_t *file = calloc(COUNT, CHUNK_BYTES);
        for (int i = 0; i < COUNT; i++) {
                struct chunk *c = (struct chunk *)(file + i * CHUNK_BYTES);
                *c = (struct chunk){sizeof(struct text), 3};
                ((struct text *)(c + 1))->bytes = 50; /* and two of these are a rest */
        }
        long sum = 0;
        for (int i = 0; i < 4; i++)
                sum += chunks(file, file + COUNT * CHUNK_BYTES);
        printf("%ld\n", sum);
        return 0;
}
END

# check_texts COMPILER
check_texts()
{
        "$1" -g -O2 -o texts texts.c
        "$MEMLAG" record --force -o texts.db $LOADS --ldlat 1 --period 37 -- ./texts \
                >texts.out 2>&1 || fail "$(cat texts.out)"
        said=$(sqlite3 -readonly texts.db "SELECT count(*) > 100,
                sum(coalesce(type = 'struct chunk', 0)) FROM sample_view
                WHERE function = 'chunks' AND access_bytes = 1")
        [ "$said" = "1|0" ] || fail "$1: of the texts, numbers of the headers are said: $said"
}

# check BYTES COMPILER OPTION...: the bytes that are counted with are BYTES.
check()
{
        bytes=$1
        shift
        "$@" -g -O3 -o vectors vectors.c
        "$MEMLAG" record --force -o vectors.db $LOADS --period 37 -- ./vectors \
                >vectors.out 2>&1 || fail "$(cat vectors.out)"
        said=$(sqlite3 -readonly vectors.db "SELECT function, coalesce(type, 'open')
                FROM sample_view WHERE object_kind = 'heap' AND access_bytes > 1
                GROUP BY 1, 2 HAVING count(*) > 5")
        [ "$said" = "gather_of_8|open
or_of_8|open
sum_of_1|$bytes
sum_of_2|open
swap_of_8|open" ] || fail "$*: the block is said to hold $said"
}

check char gcc
check char gcc -march=x86-64-v3
check_texts gcc
if command -v clang >/dev/null; then
        check open clang # loads four bytes as one number
        check char clang -march=x86-64-v3
        check_texts clang
else
        echo "byte_vectors.sh: SKIPPED with clang: it is not installed" >&2
fi
