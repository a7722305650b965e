/* SPDX-License-Identifier: MIT */
/* Nested ranges: the flat map against the definition, tried on every address. */
#include "range_map.h"
#include "unit_test.h"

enum { ADDRESSES = 64, RANGES = 24, ROUNDS = 3000 };

/* Of the ranges that hold ADDR, returns the last to begin, then the shortest, latest. */
static const struct range *innermost(const struct range *ranges, size_t count,
                                     uint64_t addr)
{
        const struct range *best = NULL;

        for (size_t i = 0; i < count; i++) {
                const struct range *range = &ranges[i];

                if (addr < range->low || addr >= range->high)
                        continue;
                if (!best || range->low > best->low ||
                    (range->low == best->low && range->high <= best->high))
                        best = range;
        }
        return best;
}

/* A tree of ranges as functions and their inlined calls are: children inside. */
static size_t nested(struct range *ranges, size_t count, uint64_t low, uint64_t high)
{
        while (count < RANGES && low < high && rand() % 4) {
                uint64_t start = low + (uint64_t)rand() % (high - low);
                uint64_t end = start + 1 + (uint64_t)rand() % (high - start);

                ranges[count] = (struct range){start, end, (uint32_t)count, 0};
                count = nested(ranges, count + 1, start, end);
                low = end;
        }
        return count;
}

static size_t arbitrary(struct range *ranges)
{
        for (size_t i = 0; i < RANGES; i++) {
                uint64_t start = (uint64_t)rand() % ADDRESSES;

                ranges[i] =
                    (struct range){start, start + (uint64_t)rand() % 9, (uint32_t)i, 0};
        }
        return RANGES;
}

static void build(struct range_map *map, const struct range *ranges, size_t count)
{
        for (size_t i = 0; i < count; i++)
                assert_ok(
                    range_map_add(map, ranges[i].low, ranges[i].high, ranges[i].value));
        assert_ok(range_map_build(map));
}

TEST(finds_the_innermost_of_nested_ranges)
{
        for (unsigned round = 0; round < ROUNDS; round++) {
                struct range ranges[RANGES];
                struct range_map map = {0};

                srand(round);
                size_t count = nested(ranges, 0, 0, ADDRESSES);

                build(&map, ranges, count);
                for (uint64_t addr = 0; addr <= ADDRESSES; addr++) {
                        const struct range *found = range_map_find(&map, addr);
                        const struct range *wanted = innermost(ranges, count, addr);

                        assert_int_equal(found != NULL, wanted != NULL);
                        if (wanted)
                                assert_int_equal(found->value, wanted->value);
                }
                range_map_free(&map);
        }
}

/* Among ranges that cross each other any is an answer; the map stays in order. */
TEST(survives_ranges_that_cross)
{
        for (unsigned round = 0; round < ROUNDS; round++) {
                struct range ranges[RANGES];
                struct range_map map = {0};

                srand(round);
                build(&map, ranges, arbitrary(ranges));
                for (size_t i = 0; i < map.count; i++) {
                        assert_true(map.items[i].low < map.items[i].high);
                        assert_true(i == 0 || map.items[i - 1].high <= map.items[i].low);
                }
                for (uint64_t addr = 0; addr < ADDRESSES + 9; addr++) {
                        const struct range *found = range_map_find(&map, addr);

                        assert_int_equal(found != NULL,
                                         innermost(ranges, RANGES, addr) != NULL);
                        if (found)
                                assert_true(addr >= ranges[found->value].low &&
                                            addr < ranges[found->value].high);
                }
                range_map_free(&map);
        }
}

TEST(an_empty_map_finds_nothing)
{
        struct range_map map = {0};

        assert_ok(range_map_add(&map, 5, 5, 1));
        assert_ok(range_map_add(&map, 9, 3, 2));
        assert_ok(range_map_build(&map));
        assert_null(range_map_find(&map, 5));
        range_map_free(&map);
}
