/* SPDX-License-Identifier: MIT */
/* Ranges that come and go, against an array that holds the owner of each address. */
#include "interval_map.h"
#include "unit_test.h"

enum { ADDRESSES = 200, ITEMS = 400 };

struct item {
        uint64_t start;
        uint64_t end;
};

static void fill(uint32_t *owners, const struct item *item, uint32_t owner)
{
        for (uint64_t addr = item->start; addr < item->end; addr++)
                owners[addr] = owner;
}

static void take_away(uint32_t *owners, uint32_t owner)
{
        for (size_t addr = 0; addr < ADDRESSES; addr++)
                if (owners[addr] == owner)
                        owners[addr] = INTERVAL_NONE;
}

TEST(a_later_range_covers_an_older_one)
{
        for (unsigned round = 0; round < 50; round++) {
                struct interval_map map = {0};
                struct item items[ITEMS];
                uint32_t owners[ADDRESSES];

                srand(round);
                for (size_t i = 0; i < ADDRESSES; i++)
                        owners[i] = INTERVAL_NONE;
                for (uint32_t i = 0; i < ITEMS; i++) {
                        items[i].start = (uint64_t)rand() % ADDRESSES;
                        items[i].end =
                            items[i].start + (uint64_t)rand() %
                                                 (ADDRESSES - items[i].start + 1) /
                                                 (1 + round % 8);
                        assert_ok(
                            interval_map_put(&map, items[i].start, items[i].end, i));
                        fill(owners, &items[i], i);
                        if (rand() % 2) {
                                uint32_t gone = (uint32_t)rand() % (i + 1);

                                interval_map_drop(&map, items[gone].start,
                                                  items[gone].end, gone);
                                take_away(owners, gone);
                        }
                        for (uint64_t addr = 0; addr < ADDRESSES; addr++)
                                assert_int_equal(interval_map_find(&map, addr),
                                                 owners[addr]);
                }
                interval_map_free(&map);
        }
}

/* 200 000 live ranges in the worst order: a list would need minutes. */
TEST(many_ranges_are_quick)
{
        const uint32_t count = 200000;
        struct interval_map map = {0};

        for (uint32_t i = 0; i < count; i++)
                assert_ok(interval_map_put(&map, i * 16ull, i * 16ull + 8, i));
        for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(interval_map_find(&map, i * 16ull + 7), i);
                assert_int_equal(interval_map_find(&map, i * 16ull + 8), INTERVAL_NONE);
        }
        for (uint32_t i = 0; i < count; i++)
                interval_map_drop(&map, i * 16ull, i * 16ull + 8, i);
        assert_int_equal(interval_map_find(&map, 0), INTERVAL_NONE);
        interval_map_free(&map);
}

TEST(the_last_address_can_be_covered_up_to)
{
        struct interval_map map = {0};

        assert_ok(interval_map_put(&map, 0, UINT64_MAX, 1));
        assert_ok(interval_map_put(&map, UINT64_MAX - 4096, UINT64_MAX, 2));
        assert_int_equal(interval_map_find(&map, UINT64_MAX - 4097), 1);
        assert_int_equal(interval_map_find(&map, UINT64_MAX - 1), 2);
        interval_map_free(&map);
}
