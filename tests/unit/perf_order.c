/* SPDX-License-Identifier: MIT */
/* The ordering queue: records of ordered rings come out in the order of time. */
#include <malloc.h>

#include "order.h"
#include "unit_test.h"

struct seen {
        uint64_t count;
        uint64_t sum; /* of the records' serial numbers */
        uint64_t latest;
        uint64_t steps_back;
        uint64_t stop_at; /* 0: never */
};

/* A record of VALUES values: its serial number, its time, then the number again. */
static int check(void *context, uint64_t time, const void *tag, const void *bytes,
                 size_t size)
{
        struct seen *seen = context;
        const uint64_t *values = bytes;
        assert_int_equal((uintptr_t)bytes % 8, 0);
        assert_ptr_equal(tag, &seen->count);
        assert_true(values[1] == time);
        for (size_t i = 2; i < size / 8; i++)
                assert_true(values[i] == values[0]);
        if (time < seen->latest)
                seen->steps_back++;
        seen->latest = time;
        seen->count++;
        seen->sum += values[0];
        return seen->count == seen->stop_at ? -ECANCELED : 0;
}

static int add(struct order *order, struct seen *seen, uint64_t serial, uint64_t time)
{
        uint64_t values[20];
        size_t count = 2 + serial % 18;
        for (size_t i = 0; i < count; i++)
                values[i] = serial;
        values[1] = time;
        return order_add(order, time, &seen->count, values, count * 8);
}

TEST(rings_are_merged)
{
        enum { RINGS = 5, ROUNDS = 200 };
        struct seen seen = {0};
        struct order *order = order_new(1 << 20, check, &seen);
        uint64_t serial = 0;
        uint64_t ring_time[RINGS] = {0};
        srand(1);
        for (uint64_t round = 1; round <= ROUNDS; round++) {
                /* A ring that is read later may have later records. */
                for (int ring = 0; ring < RINGS; ring++) {
                        uint64_t until = round * 1000 + (uint64_t)ring * 100;
                        while (ring_time[ring] + 50 < until) {
                                ring_time[ring] += (uint64_t)rand() % 50;
                                assert_ok(add(order, &seen, ++serial, ring_time[ring]));
                        }
                }
                assert_ok(order_round(order));
        }
        assert_true(seen.count < serial);
        assert_true(seen.count > serial - serial / 50); /* two rounds of 200 wait */
        assert_ok(order_flush(order));
        assert_int_equal(seen.count, serial);
        assert_int_equal(seen.sum, serial * (serial + 1) / 2);
        assert_int_equal(seen.steps_back, 0);
        assert_int_equal(order_late(order), 0);
        order_free(order);
}

TEST(equal_times_keep_their_order)
{
        struct seen seen = {.stop_at = 500};
        struct order *order = order_new(1 << 20, check, &seen);
        for (uint64_t serial = 1; serial <= 1000; serial++)
                assert_ok(add(order, &seen, serial, serial % 2));
        /* The first 500 have time 0 and even serial numbers. */
        assert_int_equal(order_flush(order), -ECANCELED);
        assert_int_equal(seen.sum, 500 * 501);
        /* After an error the rest is still there, in order. */
        assert_ok(order_flush(order));
        assert_int_equal(seen.count, 1000);
        assert_int_equal(seen.sum, 1000 * 1001 / 2);
        assert_int_equal(seen.steps_back, 0);
        order_free(order);
}

/* 200 MB pass through a queue of 1 MB, without a round's end. */
TEST(memory_is_bounded)
{
        struct seen seen = {0};
        struct order *order = order_new(1 << 20, check, &seen);
        size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        size_t most = before;
        uint64_t serial = 0;
        while (serial < 2000000) {
                serial++;
                assert_ok(add(order, &seen, serial, serial ^ 7));
                if (serial % 100000 == 0) {
                        size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
                        most = now > most ? now : most;
                }
        }
        assert_ok(order_flush(order));
        assert_int_equal(seen.count, serial);
        assert_true(most - before < 8 << 20);
        assert_int_equal(seen.steps_back, order_late(order));
        assert_true(order_late(order) < 1000);
        order_free(order);
}

TEST(what_comes_late_is_counted)
{
        struct seen seen = {0};
        struct order *order = order_new(1 << 20, check, &seen);
        assert_ok(add(order, &seen, 1, 100));
        assert_ok(order_round(order));
        assert_ok(order_round(order));
        assert_int_equal(seen.count, 1);
        assert_ok(add(order, &seen, 2, 99));
        assert_ok(add(order, &seen, 3, 101));
        assert_ok(order_flush(order));
        assert_int_equal(order_late(order), 1);
        assert_int_equal(seen.count, 3);
        assert_int_equal(seen.steps_back, 1);
        order_free(order);
}
