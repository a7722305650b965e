/* SPDX-License-Identifier: MIT */
/* The number of times that a core loses a contended line, by the formula of contest.h. */
#define TEST_SETUP    begin
#define TEST_TEARDOWN end
#include "model/memory/contest.h"
#include "unit_test.h"

/* With a slot to the cycle a stretch is as many slots long. */
#define STRETCH STRETCH_CYCLES
#define LINE    0x1234u

static struct contests contests;
static void *blocks[1024];
static size_t block_count;

static void *allocate(size_t bytes)
{
        assert_true(block_count < LENGTH(blocks));
        return blocks[block_count++] = calloc(1, bytes);
}

static int begin(void **state)
{
        contests_init(&contests, 1, allocate);
        return 0;
}

static int end(void **state)
{
        while (block_count > 0)
                free(blocks[--block_count]);
        return 0;
}

/* A core and its record of contended lines. */
struct rival {
        uint32_t core;
        struct contender *contenders;
};

static enum contest_outcome use(struct rival *rival, uint64_t line, uint64_t time,
                                bool writes, struct contest_loss *loss)
{
        const struct contest_access access = {
            .core = rival->core, .line = line, .time = time, .writes = writes};
        return contest_use(&contests, &rival->contenders, &access, loss);
}

/* RIVAL uses LINE at TIMES evenly spaced moments of the stretch with NUMBER. */
static void use_in_stretch(struct rival *rival, uint64_t line, uint64_t number,
                           uint32_t times, bool writes)
{
        struct contest_loss loss;
        for (uint32_t i = 0; i < times; i++)
                (void)use(rival, line, number * STRETCH + i * STRETCH / times, writes,
                          &loss);
}

/* How often RIVAL loses LINE in stretch NUMBER, used every 16 slots. */
static uint32_t losses_in_stretch(struct rival *rival, uint64_t line, uint64_t number,
                                  bool writes)
{
        struct contest_loss loss;
        uint32_t losses = 0;
        (void)use(rival, line, number * STRETCH, writes, &loss);
        for (uint32_t slot = 16; slot < STRETCH; slot += 16)
                losses += use(rival, line, number * STRETCH + slot, writes, &loss) ==
                          CONTEST_LOSES;
        return losses;
}

/* The first use is long after the previous one, and may find the line lost. */
static void settle(struct rival *rival, uint64_t line, uint64_t number)
{
        struct contest_loss loss;
        (void)use(rival, line, number * STRETCH, false, &loss);
}

/* How often a core that reads or WRITES loses the line to 8 accesses of another. */
static uint32_t losses_to_another(bool other_writes, bool writes)
{
        struct rival other = {.core = 1}, own = {.core = 0};
        begin(NULL);
        for (int i = 0; i < 10; i++)
                settle(&own, LINE, 100);
        use_in_stretch(&other, LINE, 100, 8, other_writes);
        uint32_t losses = losses_in_stretch(&own, LINE, 100, writes);

        end(NULL);
        return losses;
}

/* The other core has 7 accesses in the 496 slots; the core's own uses do not count. */
TEST(accesses_of_another_take_the_line)
{
        assert_int_equal(losses_to_another(true, false), 7);
        assert_int_equal(losses_to_another(true, true), 7);
        assert_int_equal(losses_to_another(false, false), 0);
        assert_int_equal(losses_to_another(false, true), 7);
}

/* Two lines that share a set of two ways in both tables. */
TEST(lines_are_told_apart)
{
        struct rival other = {.core = 1}, own = {.core = 0};
        const uint64_t set = cache_spread(LINE) & (CONTESTED_LINES - 2);
        uint64_t neighbour = LINE + 1;
        while ((cache_spread(neighbour) & (CONTESTED_LINES - 2)) != set)
                neighbour++;
        settle(&own, LINE, 100);
        settle(&own, neighbour, 100);
        use_in_stretch(&other, LINE, 100, 8, true);
        use_in_stretch(&other, neighbour, 100, 16, true);
        uint32_t losses = 0, losses_of_neighbour = 0;
        struct contest_loss loss;

        for (uint32_t slot = 16; slot < STRETCH; slot += 16) {
                uint64_t time = 100 * STRETCH + slot;
                losses += use(&own, LINE, time, false, &loss) == CONTEST_LOSES;
                losses_of_neighbour +=
                    use(&own, neighbour, time, false, &loss) == CONTEST_LOSES;
        }
        assert_int_equal(losses, 7);
        assert_int_equal(losses_of_neighbour, 15);
}

/* How often a core that reads or WRITES loses the line while it is ahead of another. The
 * other had 8 accesses in each EVERY-th stretch of its last turn. */
static uint32_t losses_ahead(uint64_t every, bool other_writes, bool writes)
{
        struct rival other = {.core = 1}, own = {.core = 0};
        begin(NULL);
        for (uint64_t number = 101; number <= 120; number += every)
                use_in_stretch(&other, LINE, number, 8, other_writes);
        settle(&own, LINE, 125);
        uint32_t losses = losses_in_stretch(&own, LINE, 125, writes);

        end(NULL);
        return losses;
}

TEST(a_core_ahead_goes_by_the_last_turn)
{
        assert_int_equal(losses_ahead(1, true, false), 7);
        assert_int_equal(losses_ahead(1, true, true), 7);
        assert_int_equal(losses_ahead(2, true, false), 3);
        assert_int_equal(losses_ahead(1, false, false), 0);
        assert_int_equal(losses_ahead(1, false, true), 7);
        assert_int_equal(losses_ahead(2, false, true), 3);
}

/* One with writes after another, and then two with reads. */
TEST(a_turn_says_nothing_of_the_next)
{
        struct rival other = {.core = 1}, own = {.core = 0};
        for (uint64_t first = 101; first <= 401; first += 100) {
                bool writes = first >= 301;

                for (uint64_t number = first; number < first + 20; number++)
                        use_in_stretch(&other, LINE, number, 8, !writes);
                while (use(&own, LINE, (first + 24) * STRETCH, writes,
                           &(struct contest_loss){0}) == CONTEST_LOSES)
                        ;
                assert_int_equal(losses_in_stretch(&own, LINE, first + 24, writes), 7);
        }
}

/* The line goes through all cores that want it before it comes back. */
TEST(a_line_comes_back_after_all_others_had_it)
{
        struct rival others[3] = {{.core = 1}, {.core = 2}, {.core = 3}};
        struct rival own = {.core = 0};
        struct contest_loss loss = {0};
        uint32_t slot = 0;
        settle(&own, LINE, 100);
        for (uint32_t i = 0; i < 3; i++)
                use_in_stretch(&others[i], LINE, 100, 8, true);
        do {
                slot += 16;
                assert_true(slot < STRETCH);
        } while (use(&own, LINE, 100 * STRETCH + slot, false, &loss) != CONTEST_LOSES);
        assert_int_equal(loss.others,
                         contest_core(1) | contest_core(2) | contest_core(3));
        /* They have asked 24 times in STRETCH slots. */
        assert_int_equal(slot, 32);
        assert_int_equal(loss.requests, 1);
        assert_in_range(loss.since, 32 - STRETCH / 24 - 1, 32 - STRETCH / 24);
}

/* A waiting core's requests are served together when the line comes. */
TEST(requests_gather_while_a_core_waits)
{
        struct rival other = {.core = 1}, own = {.core = 0};
        const uint64_t first = 100 * STRETCH, arrival = first + STRETCH / 2;
        struct contest_access access = {
            .core = 0, .line = LINE, .time = first, .arrival = arrival, .writes = true};
        struct contest_loss loss;
        settle(&own, LINE, 100);
        use_in_stretch(&other, LINE, 100, 8, true);
        for (; access.time < arrival; access.time += 16)
                assert_int_equal(contest_use(&contests, &own.contenders, &access, &loss),
                                 CONTEST_KEEPS);
        assert_int_equal(contest_use(&contests, &own.contenders, &access, &loss),
                         CONTEST_LOSES);
        assert_int_equal(loss.requests, 4);
        assert_int_equal(loss.since, 0);
}

TEST(a_contest_is_over_when_nobody_else_comes)
{
        struct rival other = {.core = 1}, own = {.core = 0};
        const uint64_t over = (101 + STRETCHES_BEHIND) * STRETCH;
        struct contest_loss loss;
        use_in_stretch(&other, LINE, 100, 8, true);
        (void)use(&own, LINE, over - 2, false, &loss);
        assert_int_equal(use(&own, LINE, over - 1, false, &loss), CONTEST_KEEPS);
        assert_int_equal(use(&own, LINE, over, false, &loss), CONTEST_IS_OVER);
}
