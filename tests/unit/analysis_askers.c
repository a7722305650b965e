/* SPDX-License-Identifier: MIT */
/* The first requesters of cache lines that other loads wait for. */
#include "askers.h"
#include "unit_test.h"

enum { KEY, VALUE, BYTES, OTHER, LINES };
enum { WALK, REST, FUNCTIONS };
enum { LIST = 1, TEXT };

struct found {
        int count;
        struct asker asker;
};

static int take(void *context, const struct asker *asker)
{
        struct found *found = context;
        found->count++;
        found->asker = *asker;
        return 0;
}

static struct found found_by(struct askers *askers)
{
        struct found found = {0};
        assert_ok(askers_each(askers, take, &found));
        askers_close(askers);
        return found;
}

static const uint32_t function_of[LINES] = {WALK, WALK, REST, REST};

static struct askers opened(void)
{
        struct askers askers;
        assert_ok(askers_open(&askers, LINES, FUNCTIONS, function_of));
        return askers;
}

static void ask(struct askers *askers, uint32_t object, uint32_t line)
{
        assert_ok(askers_add_ask(askers, object, line));
}

static void wait_for(struct askers *askers, uint32_t object, uint32_t line)
{
        assert_ok(askers_add_wait(askers, object, line));
}

TEST(the_latest_of_its_function_in_the_object_asked)
{
        struct askers askers = opened();
        for (int i = 0; i < 20; i++) {
                if (i < 15)
                        ask(&askers, LIST, KEY);
                ask(&askers, TEXT, BYTES); /* another object */
                ask(&askers, LIST, OTHER); /* another function */
                wait_for(&askers, i < 15 ? LIST : TEXT, VALUE);
        }
        struct found found = found_by(&askers);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.asker.line, VALUE);
        assert_int_equal(found.asker.asker, KEY);
        assert_int_equal(found.asker.samples, 15);
        assert_true(found.asker.share == 0.75);
}

TEST(a_function_that_does_not_ask_waits_for_anothers)
{
        struct askers askers = opened();
        for (int i = 0; i < 20; i++) {
                ask(&askers, LIST, OTHER);
                wait_for(&askers, LIST, VALUE);
        }
        struct found found = found_by(&askers);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.asker.line, VALUE);
        assert_true(found.asker.asker == ASKER_ELSEWHERE);
        assert_int_equal(found.asker.samples, 20);
}

static struct found with_own(int own, int waits)
{
        struct askers askers = opened();
        for (int i = 0; i < own; i++)
                ask(&askers, LIST, VALUE);
        ask(&askers, LIST, KEY);
        for (int i = 0; i < waits; i++)
                wait_for(&askers, LIST, VALUE);
        return found_by(&askers);
}

/* A loop over bytes requests a cache line with one load in 64. */
TEST(who_asks_for_its_own_lines_waits_for_no_other)
{
        assert_int_equal(with_own(2, 126).count, 0);
        assert_int_equal(with_own(2, 128).count, 1);
}

TEST(few_samples_tell_nothing)
{
        assert_int_equal(with_own(0, 19).count, 0);
        assert_int_equal(with_own(0, 20).count, 1);
}

TEST(samples_without_an_object_name_nobody)
{
        struct askers askers = opened();
        for (int i = 0; i < 20; i++)
                ask(&askers, 0, KEY);
        for (int i = 0; i < 100; i++)
                wait_for(&askers, 0, VALUE);
        assert_int_equal(found_by(&askers).count, 0);
}
