/* SPDX-License-Identifier: MIT */
/* Places taken for a time; requests come in another order than their times. */
#include "simpmu_rig.h"

/* The answered requests: a simple reference that looks at every one. */
#define REQUESTS 500u

struct answered {
        uint32_t places;
        uint32_t number;
        uint64_t begin[REQUESTS];
        uint64_t end[REQUESTS];
};

static uint32_t taken_at(const struct answered *all, uint64_t time)
{
        uint32_t taken = 0;
        for (uint32_t i = 0; i < all->number; i++)
                taken += all->begin[i] <= time && time < all->end[i];
        return taken;
}

/* Only the beginning of a request can increase the number of taken places. */
static bool is_free(const struct answered *all, uint64_t begin, uint64_t end)
{
        if (taken_at(all, begin) >= all->places)
                return false;
        for (uint32_t i = 0; i < all->number; i++) {
                uint64_t time = all->begin[i];
                if (time > begin && time < end && taken_at(all, time) >= all->places)
                        return false;
        }
        return true;
}

/* The end of a request that begins at BEGIN, takes TIME and does not end before END. */
static uint64_t end_of_request(uint64_t begin, uint64_t time, uint64_t end)
{
        return begin + time > end ? begin + time : end;
}

static uint64_t first_free(const struct answered *all, uint64_t start, uint64_t time,
                           uint64_t end)
{
        uint64_t first = UINT64_MAX;
        if (is_free(all, start, end_of_request(start, time, end)))
                return start;
        for (uint32_t i = 0; i < all->number; i++) {
                uint64_t at = all->end[i];
                if (at > start && at < first &&
                    is_free(all, at, end_of_request(at, time, end)))
                        first = at;
        }
        return first;
}

/* A request for at least LEAST that is found to take TIME, and not to end before END. */
static uint64_t request_until(struct places *places, uint64_t start, uint64_t least,
                              uint64_t time, uint64_t end)
{
        uint64_t begin = places_find(places, start, least);
        begin = places_fit(places, start, begin, time, end_of_request(begin, time, end));
        places_hold(places, begin, end_of_request(begin, time, end));
        return begin;
}

static uint64_t request(struct places *places, uint64_t start, uint64_t least,
                        uint64_t time)
{
        return request_until(places, start, least, time, 0);
}

static struct places *places_new(uint32_t count, uint32_t outstanding)
{
        struct places *places = allocate(sizeof(*places));
        places_init(places, count, outstanding);
        return places;
}

/* Runs chains of requests, whose next request starts when the one before has ended. Of 8
 * requests KIND are in a chain; the others wait for nothing. Each begins as early as the
 * places that are taken then let it. */
static void run_program(uint32_t count, uint32_t chains, uint64_t load, uint32_t kind)
{
        static struct answered all;
        struct places *places = places_new(count, REQUESTS);
        uint64_t chain_at[32] = {0}, now = 0;
        all.places = count;
        all.number = 0;
        for (uint32_t i = 0; i < REQUESTS; i++) {
                uint32_t chain = (uint32_t)random_below(chains);
                bool in_chain = random_below(8) < kind;
                uint64_t time = random_below(4) == 0 ? 200 : 12;
                uint64_t start =
                    in_chain && chain_at[chain] > now ? chain_at[chain] : now;
                uint64_t turn = random_below(4) == 0 ? start + random_below(400) : 0;
                uint64_t expected = first_free(&all, start, time, turn);
                uint64_t begin =
                    request_until(places, start, random_below(time + 1), time, turn);
                uint64_t end = end_of_request(begin, time, turn);
                assert_int_equal(begin, expected);
                all.begin[all.number] = begin;
                all.end[all.number++] = end;
                if (in_chain)
                        chain_at[chain] = end + random_below(5);
                now += random_below(load);
        }
        for (uint32_t i = 0; i < all.number; i++) {
                assert_true(taken_at(&all, all.begin[i]) <= count);
                assert_int_equal(places_taken(places, all.begin[i]),
                                 taken_at(&all, all.begin[i]));
        }
}

TEST(requests_begin_when_a_place_is_really_free)
{
        const uint32_t counts[] = {1, 2, 3, 10, 24};
        const uint64_t loads[] = {4, 30, 200};
        for (uint32_t seed = 0; seed < 90; seed++) {
                random_state = seed;
                run_program(counts[seed % 5], 1 + seed % 7, loads[seed / 5 % 3],
                            seed / 15 % 8);
                free_blocks(NULL);
        }
}

/* As many simultaneous requests begin as there are places; the next one waits. */
TEST(as_many_as_there_are_places_begin_at_once)
{
        const uint32_t count = 10;
        const uint64_t latency = 200;
        struct places *places = places_new(count, 64);
        for (uint64_t i = 0; i < 1000; i++)
                assert_int_equal(request(places, 0, 1, latency), i / count * latency);
        assert_int_equal(places_taken(places, 99 * latency), count);
        assert_true(places_fewer(places, 100 * latency, 1));
        assert_false(places_fewer(places, 99 * latency, count));
}

/* Of many requests the earliest gaps are forgotten; too many places are never taken. */
TEST(what_is_forgotten_counts_as_full)
{
        struct places *places = places_new(2, 29); /* 32 remembered */
        for (uint64_t i = 1; i <= 1000; i++) {
                assert_int_equal(request(places, 1000 * i, 1, 100), 1000 * i);
                assert_int_equal(request(places, 1000 * i, 1, 50), 1000 * i);
        }
        assert_int_equal(request(places, 999 * 1000, 1, 100), 999 * 1000 + 50);
        assert_int_equal(request(places, 995 * 1000 + 500, 1, 10), 995 * 1000 + 500);
        assert_true(request(places, 5, 1, 100) > 900 * 1000);
        places_clear(places);
        assert_int_equal(request(places, 5, 1, 100), 5);
}

/* Any number of announced requests stays within PLACES_ROOM. */
TEST(requests_beyond_all_room_are_forgotten)
{
        struct places *places = places_new(2, 8 * PLACES_ROOM);
        for (uint64_t i = 1; i <= 3 * PLACES_ROOM; i++)
                assert_int_equal(request(places, 1000 * i, 1, 100), 1000 * i);
        assert_int_equal(request(places, 1000 * PLACES_ROOM, 1, 2000),
                         1000 * (2 * PLACES_ROOM + 1) + 100); /* the oldest kept */
}

/* Requests that end when they begin, some at the same time, let others go on. */
TEST(requests_may_take_no_time)
{
        struct places *places = places_new(1, 64);
        for (uint64_t i = 0; i < 200; i++)
                assert_int_equal(request(places, 1000 * (i / 2), 0, 0), 1000 * (i / 2));
        assert_int_equal(request(places, 50 * 1000, 30, 30), 50 * 1000);
        assert_int_equal(request(places, 50 * 1000, 30, 30), 50 * 1000 + 30);
        assert_int_equal(request(places, 50 * 1000 + 10, 0, 0), 50 * 1000 + 60);
}

/* If a request begins as another ends, no place is free between them. */
TEST(a_request_right_after_another_leaves_no_gap)
{
        struct places *places = places_new(1, 64);
        assert_ok(request(places, 0, 300, 300));
        assert_int_equal(request(places, 1000, 100, 100), 1000);
        assert_int_equal(request(places, 10, 700, 700), 300);
        assert_int_equal(request(places, 20, 100, 100), 1100);
        assert_int_equal(places->full_from, 10);
        assert_int_equal(places->full_until, 1100);
}

/* ---- the same, with loads ---- */
#define SLOTS(rig, cycles) ((cycles) * (rig)->machine.slots_per_cycle)

/* Loads of DRAM take DRAM_CYCLES at any bandwidth in use. */
static struct simpmu_params memory_alone(void)
{
        struct simpmu_params params = params_without_walks();
        params.dram_bandwidth_gbs = 1e6;
        return params;
}

/* A chain of loads from memory, with arithmetic for longer than a load between them; then
 * a load that waits for nothing. There is one fill buffer, or one place beyond L2. The
 * last load waits for the first of the chain at most. */
TEST(a_load_beside_a_chain_waits_for_no_later_one)
{
        const uint64_t rounds = 50, steps = 8, between_cycles = 2 * DRAM_CYCLES;
        struct simpmu_params params[2] = {memory_alone(), memory_alone()};
        params[0].lfb_entries = 1;
        params[1].l2_queue_entries = 1;
        for (int i = 0; i < 2; i++) {
                struct rig *rig = rig_new(&params[i], 1, 1, 1);
                uint64_t fresh = MIB;
                for (uint64_t round = 0; round < rounds; round++) {
                        rig->hot.ready[POINTER] = 0;
                        for (uint64_t step = 0; step < steps; step++) {
                                chase_step(rig, fresh += LINE_BYTES);
                                rig->hot.ready[POINTER] += SLOTS(rig, between_cycles);
                        }
                        touch(rig, ACCESS_LOAD, fresh += LINE_BYTES, 1);
                        assert_int_equal(last_sample.level, SIMPMU_LEVEL_DRAM);
                        assert_in_range(last_sample.latency_slots,
                                        SLOTS(rig, DRAM_CYCLES),
                                        SLOTS(rig, 2 * DRAM_CYCLES));
                        rig->hot.instructions +=
                            SLOTS(rig, 2 * steps * (DRAM_CYCLES + between_cycles));
                }
        }
}

/* One load from memory; notes when it has a fill buffer and goes beyond L2. */
static void run_load(struct rig *rig, bool in_chain, uint64_t address,
                     struct answered *buffers, struct answered *beyond)
{
        const uint64_t *pending = &rig->threads[0]->counters.pending_slots;
        const uint64_t before = *pending;
        if (in_chain)
                chase_step(rig, address);
        else
                touch(rig, ACCESS_LOAD, address, 1);
        uint64_t end = last_sample.time_slots + last_sample.latency_slots;
        assert_int_equal(last_sample.level, SIMPMU_LEVEL_DRAM);
        buffers->begin[buffers->number] = end - (*pending - before);
        buffers->end[buffers->number++] = end;
        beyond->begin[beyond->number] = end - SLOTS(rig, DRAM_CYCLES);
        beyond->end[beyond->number++] = end;
}

/* Chains by turns, of any length, and loads between them that wait for nothing. */
static void run_loads(uint32_t buffer_count, uint32_t place_count)
{
        static struct answered buffers, beyond;
        struct simpmu_params params = memory_alone();
        uint64_t chains[8] = {0};
        buffers.places = buffer_count;
        beyond.places = place_count;
        buffers.number = beyond.number = 0;
        params.lfb_entries = buffer_count;
        params.l2_queue_entries = place_count;
        struct rig *rig = rig_new(&params, 1, 1, 1);
        uint32_t in_chain = (uint32_t)random_below(9);
        for (uint32_t i = 0; i < REQUESTS; i++) {
                uint64_t *chain = &chains[random_below(8)];
                *chain = random_below(6) == 0 ? 0 : *chain;
                rig->hot.ready[POINTER] = *chain;
                run_load(rig, random_below(8) < in_chain, MIB + i * LINE_BYTES, &buffers,
                         &beyond);
                *chain = rig->hot.ready[POINTER] + SLOTS(rig, random_below(50));
                rig->hot.instructions += random_below(60);
        }
        for (uint32_t i = 0; i < REQUESTS; i++) {
                assert_true(taken_at(&buffers, buffers.begin[i]) <= buffer_count);
                assert_true(taken_at(&beyond, beyond.begin[i]) <=
                            (place_count < buffer_count ? place_count : buffer_count));
        }
}

TEST(no_more_loads_are_under_way_than_there_are_places)
{
        const uint32_t counts[] = {1, 2, 4, 10, 16};
        for (uint32_t seed = 0; seed < 200; seed++) {
                random_state = seed;
                run_loads(counts[seed % 5], counts[seed / 5 % 5]);
                free_blocks(NULL);
        }
}
