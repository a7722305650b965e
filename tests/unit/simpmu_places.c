/* SPDX-License-Identifier: MIT */
/* Places that requests take for a time, asked for in another order than that of their
 * times: fill buffers, page walkers, places in the queue beyond L2. */
#include "simpmu_rig.h"

/* Requests that have been answered, and nothing cleverer than to look at all of them. */
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

/* More places can only be taken where a request begins. */
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

static uint64_t first_free(const struct answered *all, uint64_t start, uint64_t time)
{
        uint64_t first = UINT64_MAX;

        if (is_free(all, start, start + time))
                return start;
        for (uint32_t i = 0; i < all->number; i++) {
                uint64_t at = all->end[i];
                if (at > start && at < first && is_free(all, at, at + time))
                        first = at;
        }
        return first;
}

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return (random_state >> 33) % limit;
}

/* A request for at least LEAST that is found to take TIME. */
static uint64_t request(struct places *places, uint64_t start, uint64_t least,
                        uint64_t time)
{
        uint64_t begin = places_find(places, start, least);

        begin = places_fit(places, start, begin, begin + time);
        places_hold(places, begin, begin + time);
        return begin;
}

static struct places *places_new(uint32_t count, uint32_t outstanding)
{
        struct places *places = allocate(sizeof(*places));

        places_init(places, count, outstanding);
        return places;
}

/* Chains, whose next request starts when the one before has ended, and between them
 * requests that wait for nothing; as much of them as KIND of program has. Each begins as
 * early as the places that are taken then let it. */
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
                uint64_t expected = first_free(&all, start, time);
                uint64_t begin = request(places, start, random_below(time + 1), time);
                assert_int_equal(begin, expected);
                all.begin[all.number] = begin;
                all.end[all.number++] = begin + time;
                if (in_chain)
                        chain_at[chain] = begin + time + random_below(5);
                now += random_below(load);
        }
        for (uint32_t i = 0; i < all.number; i++) {
                assert_true(taken_at(&all, all.begin[i]) <= count);
                assert_int_equal(places_taken(places, all.begin[i]),
                                 taken_at(&all, all.begin[i]));
        }
}

static void requests_begin_when_a_place_is_really_free(void **state)
{
        const uint32_t counts[] = {1, 2, 3, 10, 24};
        const uint64_t loads[] = {4, 30, 200};

        (void)state;
        for (uint32_t seed = 0; seed < 90; seed++) {
                random_state = seed;
                run_program(counts[seed % 5], 1 + seed % 7, loads[seed / 5 % 3],
                            seed / 15 % 8);
                free_blocks(NULL);
        }
}

/* Requests that could all begin at once: the one after as many as there are places begins
 * when the first has ended. */
static void as_many_as_there_are_places_begin_at_once(void **state)
{
        const uint32_t count = 10;
        const uint64_t latency = 200;
        struct places *places = places_new(count, 64);

        (void)state;
        for (uint64_t i = 0; i < 1000; i++)
                assert_int_equal(request(places, 0, 1, latency), i / count * latency);
        assert_int_equal(places_taken(places, 99 * latency), count);
        assert_true(places_fewer(places, 100 * latency, 1));
        assert_false(places_fewer(places, 99 * latency, count));
}

/* Of more requests than are remembered the earliest gaps are forgotten; never are more
 * places taken than there are. */
static void what_is_forgotten_counts_as_full(void **state)
{
        struct places *places = places_new(2, 29); /* 32 remembered */

        (void)state;
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

/* A request that turns out longer than the gap that it was let into goes where there is
 * room for it. */
static void a_request_that_outlasts_its_gap_waits(void **state)
{
        struct places *places = places_new(1, 64);

        (void)state;
        (void)request(places, 1000, 1, 30);
        (void)request(places, 2000, 1, 30);
        assert_int_equal(request(places, 900, 50, 50), 900);
        assert_int_equal(request(places, 960, 10, 60), 1030);
        assert_int_equal(request(places, 1500, 10, 600), 2030);
}

/* Requests that end when they begin, some at the same time, let others go on. */
static void requests_may_take_no_time(void **state)
{
        struct places *places = places_new(1, 64);

        (void)state;
        for (uint64_t i = 0; i < 200; i++)
                assert_int_equal(request(places, 1000 * (i / 2), 0, 0), 1000 * (i / 2));
        assert_int_equal(request(places, 50 * 1000, 30, 30), 50 * 1000);
        assert_int_equal(request(places, 50 * 1000, 30, 30), 50 * 1000 + 30);
        assert_int_equal(request(places, 50 * 1000 + 10, 0, 0), 50 * 1000 + 60);
}

/* A place that is taken for a short time is the next to be free. */
static void the_place_that_is_free_first_is_taken(void **state)
{
        struct places *places = places_new(2, 64);

        (void)state;
        assert_int_equal(request(places, 0, 1, 500), 0);
        assert_int_equal(request(places, 0, 1, 100), 0);
        assert_int_equal(request(places, 0, 1, 100), 100);
        assert_int_equal(request(places, 0, 1, 100), 200);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(requests_begin_when_a_place_is_really_free),
            cmocka_unit_test_teardown(as_many_as_there_are_places_begin_at_once,
                                      free_blocks),
            cmocka_unit_test_teardown(the_place_that_is_free_first_is_taken, free_blocks),
            cmocka_unit_test_teardown(requests_may_take_no_time, free_blocks),
            cmocka_unit_test_teardown(what_is_forgotten_counts_as_full, free_blocks),
            cmocka_unit_test_teardown(a_request_that_outlasts_its_gap_waits, free_blocks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
