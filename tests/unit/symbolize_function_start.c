/* SPDX-License-Identifier: MIT */
/* Unwind tables by hand (LSB, "Exception Frames"); one is costly to read naively. */
#include "frame_entry.h"
#include "function_start.h"
#include "unit_test.h"

enum { VADDR = 0x10000, POINTER_TO_PC_32 = 0x1b, ABSOLUTE_32 = 0x03 };

struct table {
        uint8_t *bytes;
        size_t size;
};

static void put(struct table *table, const void *bytes, size_t size)
{
        memcpy(table->bytes + table->size, bytes, size);
        table->size += size;
}

static void put_32(struct table *table, uint32_t value)
{
        put(table, &value, sizeof(value));
}

/* A common part with this ENCODING and LETTERS after "zR"; returns its place. */
static size_t put_common(struct table *table, uint8_t encoding, size_t letters)
{
        const uint8_t rest[] = {1, 0x78, 16, 1, encoding}; /* aligns, register, 'R' */
        size_t at = table->size;

        put_32(table, (uint32_t)(4 + 1 + 2 + letters + 1 + sizeof(rest)));
        put_32(table, 0);
        put(table, "\1zR", 3);
        memset(table->bytes + table->size, 'S', letters);
        table->size += letters;
        put(table, "", 1);
        put(table, rest, sizeof(rest));
        return at;
}

/* A function at LOW, with the common part at COMMON. */
static void put_function(struct table *table, size_t common, uint8_t encoding,
                         uint64_t low, uint32_t bytes)
{
        put_32(table, 4 + 8 + 1);
        put_32(table, (uint32_t)(table->size - common));
        put_32(table, (uint32_t)(encoding == POINTER_TO_PC_32 ? low - VADDR - table->size
                                                              : low));
        put_32(table, bytes);
        put(table, "", 1);
}

TEST(functions_begin_where_the_table_says)
{
        uint8_t bytes[512];
        struct table table = {.bytes = bytes};
        size_t relative = put_common(&table, POINTER_TO_PC_32, 0);

        put_function(&table, relative, POINTER_TO_PC_32, 0x1000, 0x40);
        put_function(&table, relative, POINTER_TO_PC_32, 0x20000, 0x10);
        put_function(&table, relative, POINTER_TO_PC_32, 0x1050, 0);
        size_t absolute = put_common(&table, ABSOLUTE_32, 0);

        put_function(&table, absolute, ABSOLUTE_32, 0x1060, 0x100);
        put_function(&table, relative, POINTER_TO_PC_32, 0x1080, 0x20);
        put_32(&table, 0); /* the end: the rest is ignored */
        put_function(&table, relative, POINTER_TO_PC_32, 0x5000, 0x10);
        static const struct {
                uint64_t vaddr, start;
        } wanted[] = {{0xfff, 0},       {0x1000, 0x1000}, {0x103f, 0x1000},
                      {0x1040, 0},      {0x1050, 0},      {0x1060, 0x1060},
                      {0x1080, 0x1080}, {0x109f, 0x1080}, {0x10a0, 0x1060},
                      {0x1160, 0},      {0x5000, 0},      {0x2000f, 0x20000}};
        enum { COUNT = LENGTH(wanted) };
        struct function_start starts[COUNT] = {{0}};

        for (size_t i = 0; i < COUNT; i++)
                starts[i].vaddr = wanted[i].vaddr;
        function_starts_in(table.bytes, table.size, VADDR, starts, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
                assert_int_equal(starts[i].found, wanted[i].start != 0);
                assert_int_equal(starts[i].start, wanted[i].start);
        }
}

/* Without an augmentation no length precedes the instructions (here advance_loc 63). */
TEST(without_letters_instructions_follow_at_once)
{
        uint8_t bytes[64];
        struct table table = {.bytes = bytes};
        struct function_start start = {.vaddr = 0x1010};
        const uint64_t low = 0x1000, size = 0x40;

        put_32(&table, 4 + 1 + 1 + 3);
        put_32(&table, 0);
        put(&table, "\1\0\1\x78\x10", 5); /* version, no letters, aligns, register */
        size_t function = table.size;

        put_32(&table, 4 + 8 + 8 + 1);
        put_32(&table, (uint32_t)table.size);
        put(&table, &low, sizeof(low));
        put(&table, &size, sizeof(size));
        put(&table, "\x7f", 1);
        function_starts_in(table.bytes, table.size, VADDR, &start, 1);
        assert_true(start.found);
        assert_int_equal(start.start, low);
        struct frame_entry entry;

        assert_true(frame_entry_read(&entry, (uintptr_t)(bytes + function), bytes,
                                     bytes + table.size));
        assert_int_equal(entry.own.end - entry.own.at, 1);
        assert_int_equal(*entry.own.at, 0x7f);
}

/* An entry of extended length (LSB), though none of this size is that long. */
TEST(an_extended_length_is_one)
{
        uint8_t bytes[128];
        struct table table = {.bytes = bytes};
        size_t common = put_common(&table, ABSOLUTE_32, 0);
        const uint64_t length = 4 + 8 + 1;

        put_32(&table, UINT32_MAX);
        put(&table, &length, sizeof(length));
        put_32(&table, (uint32_t)(table.size - common));
        put_32(&table, 0x1000);
        put_32(&table, 0x40);
        put(&table, "", 1);
        size_t end = table.size;

        put_function(&table, common, ABSOLUTE_32, 0x2000, 0x40);
        for (size_t size = 0; size <= table.size; size++) {
                uint8_t *part = malloc(size ? size : 1);
                struct function_start starts[] = {{.vaddr = 0x103f}, {.vaddr = 0x2000}};

                assert_non_null(part);
                memcpy(part, bytes, size);
                function_starts_in(part, size, VADDR, starts, 2);
                assert_int_equal(starts[0].found, size >= end);
                assert_int_equal(starts[1].found, size == table.size);
                assert_int_equal(starts[0].start, starts[0].found ? 0x1000 : 0);
                free(part);
        }
}

/* Two long common parts in turn, read each time, would be 40 GB. */
TEST(a_hostile_table_costs_little)
{
        enum { FUNCTIONS = 40000, LETTERS = 1 << 20, QUESTIONS = 10000 };
        struct table table = {.bytes = malloc(3 * LETTERS + FUNCTIONS * 20)};
        struct function_start *starts = calloc(QUESTIONS, sizeof(*starts));
        struct timespec begin, end;

        assert_non_null(table.bytes);
        assert_non_null(starts);
        const size_t commons[] = {put_common(&table, ABSOLUTE_32, LETTERS),
                                  put_common(&table, ABSOLUTE_32, LETTERS)};

        for (uint32_t i = 0; i < FUNCTIONS; i++)
                put_function(&table, commons[i % 2], ABSOLUTE_32, 1 + i, 1 << 30);
        for (size_t i = 0; i < QUESTIONS; i++)
                starts[i].vaddr = 0x100000 + i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        function_starts_in(table.bytes, table.size, VADDR, starts, QUESTIONS);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        assert_true((double)(end.tv_sec - begin.tv_sec) +
                        (double)(end.tv_nsec - begin.tv_nsec) / 1e9 <
                    2);
        free(starts);
        free(table.bytes);
}
