/* SPDX-License-Identifier: MIT */
/* The simulated scheduler, on instructions whose times are known. */
#include "simpmu_rig.h"

enum { PLACES = 40, LIST = 400, VALUE = POINTER, LATE_CYCLES = 100, CYCLE = 4 };

static struct rig *rig_with_places(uint32_t general, uint32_t vector, uint32_t addresses)
{
        struct simpmu_params params = default_params();
        params.rob_entries = 4096;
        params.scheduler_entries = general;
        params.vector_scheduler_entries = vector;
        params.address_scheduler_entries = addresses;
        return rig_new(&params, 1, 30, NO_SAMPLES);
}

/* COUNT instructions of KIND in a chain wait for VALUE, and STEP slots longer each. */
static void list(struct scheduled *list, uint32_t count, enum scheduler_kind kind,
                 uint32_t step)
{
        static uint32_t delays[LIST];
        for (uint32_t i = 0; i < count; i++) {
                delays[i] = i * step;
                list[i] = (struct scheduled){
                    .operands = waits_for(1ull << VALUE, &delays[i], 0),
                    .position = (int32_t)i - (int32_t)count,
                    .kind = kind,
                    .next = i + 1 < count ? &list[i + 1] : NULL,
                };
        }
        if (count > 0)
                list[0].longest = (count - 1) * step;
}

/* The slots that COUNT instructions stall because their value is LATE_CYCLES late. */
static uint64_t stall_of(struct rig *rig, uint32_t count, enum scheduler_kind kind,
                         uint32_t step)
{
        struct scheduled instructions[LIST];
        const uint64_t before = rig->threads[0]->stall;
        rig->hot.ready[VALUE] =
            rig->hot.instructions + before + (uint64_t)LATE_CYCLES * CYCLE;
        rig->hot.late_until = rig->hot.ready[VALUE];
        rig->hot.instructions += count;
        list(instructions, count, kind, step);
        scheduler_issue(&rig->hot, rig->threads[0], instructions);
        assert_int_equal(rig->hot.stall, rig->threads[0]->stall);
        return rig->threads[0]->stall - before;
}

/* Instructions that all find a place do not stall; one more waits for the late value. */
TEST(the_place_that_lacks_is_waited_for)
{
        const uint64_t late = LATE_CYCLES * CYCLE;
        for (uint32_t count = 0; count <= PLACES; count += PLACES / 2)
                assert_int_equal(
                    stall_of(rig_with_places(PLACES, 0, 0), count, SCHEDULER_GENERAL, 0),
                    0);
        for (uint32_t count = PLACES + 1; count < LIST; count *= 2)
                assert_int_equal(
                    stall_of(rig_with_places(PLACES, 0, 0), count, SCHEDULER_GENERAL, 0),
                    late - PLACES);
}

/* The issue time of an instruction beside COUNT others that leave at LEAVE. */
static uint64_t issue_of(const uint64_t *leave, uint32_t count, uint64_t now)
{
        for (;;) {
                uint32_t left = 0;
                uint64_t first = UINT64_MAX;
                for (uint32_t i = 0; i < count; i++) {
                        left += leave[i] > now;
                        if (leave[i] > now && leave[i] < first)
                                first = leave[i];
                }
                if (left < PLACES)
                        return now;
                now = first;
        }
}

/* Chains behind late values take the time that a simulation of each slot gives. */
TEST(chains_take_their_time_in_places)
{
        enum { LENGTH = 20, ROUNDS = 30 };
        struct rig *rig = rig_with_places(PLACES, 0, 0);
        uint64_t leave[LENGTH * ROUNDS];
        uint64_t now = 0;
        uint32_t count = 0;
        for (uint32_t round = 0; round < ROUNDS; round++) {
                const uint64_t begin = now;
                for (uint64_t i = 0; i < LENGTH; i++, now++) {
                        now = issue_of(leave, count, now);
                        leave[count++] = begin + (LATE_CYCLES + i) * CYCLE;
                }
                (void)stall_of(rig, LENGTH, SCHEDULER_GENERAL, CYCLE);
        }
        assert_near((double)(rig->hot.instructions + rig->threads[0]->stall), (double)now,
                    0.03);
}

/* An instruction whose value is ready holds no place, but needs a free one. */
TEST(what_need_not_wait_keeps_no_place)
{
        struct scheduled instructions[LIST];
        for (uint32_t waiting = PLACES - 1; waiting <= PLACES; waiting++) {
                struct rig *rig = rig_with_places(PLACES, 0, 0);
                assert_int_equal(stall_of(rig, waiting, SCHEDULER_GENERAL, 0), 0);
                rig->hot.ready[VALUE] = 0;
                rig->hot.instructions += LIST;
                list(instructions, LIST, SCHEDULER_GENERAL, 0);
                scheduler_issue(&rig->hot, rig->threads[0], instructions);
                assert_int_equal(rig->threads[0]->stall,
                                 waiting < PLACES ? 0 : LATE_CYCLES * CYCLE - PLACES);
        }
}

/* Two kinds have separate places, or share the places of the first kind. */
TEST(kinds_share_places_or_do_not)
{
        const uint32_t half = PLACES / 2 + 1;
        for (enum scheduler_kind kind = SCHEDULER_VECTOR; kind < SCHEDULER_KINDS;
             kind++) {
                struct rig *apart = rig_with_places(PLACES, PLACES, PLACES);
                struct rig *together = rig_with_places(PLACES, 0, 0);
                (void)stall_of(apart, half, SCHEDULER_GENERAL, 0);
                (void)stall_of(together, half, SCHEDULER_GENERAL, 0);
                assert_int_equal(stall_of(apart, half, kind, 0), 0);
                assert_true(stall_of(together, half, kind, 0) > 0);
        }
}

/* A wait beyond the scheduler's horizon stalls for at least the horizon's length. */
TEST(long_waits_end)
{
        const uint64_t kept = (uint64_t)SCHEDULER_PARTS << SCHEDULER_PART_SHIFT;
        struct scheduled instructions[LIST];
        struct rig *rig = rig_with_places(PLACES, 0, 0);
        rig->hot.instructions = PLACES + 1;
        rig->hot.ready[VALUE] = rig->hot.late_until = 10 * kept;
        list(instructions, PLACES + 1, SCHEDULER_GENERAL, 0);
        scheduler_issue(&rig->hot, rig->threads[0], instructions);
        assert_near((double)rig->threads[0]->stall, (double)kept, 0.01);
        assert_int_equal(rig->hot.late_until, 10 * kept);
}

/* A value that comes soon cannot fill all places: ignored, unless others wait. */
TEST(soon_is_not_looked_at)
{
        const uint32_t count = PLACES / 2;
        for (int others = 0; others < 2; others++) {
                struct rig *rig = rig_with_places(PLACES, 0, 0);
                struct scheduled instructions[LIST];
                if (others)
                        (void)stall_of(rig, count, SCHEDULER_GENERAL, 0);
                rig->hot.ready[VALUE] = rig->hot.instructions + PLACES - 1;
                rig->hot.late_until =
                    others ? rig->hot.late_until : rig->hot.ready[VALUE];
                rig->hot.instructions += count;
                list(instructions, count, SCHEDULER_GENERAL, 0);
                scheduler_issue(&rig->hot, rig->threads[0], instructions);
                assert_int_equal(rig->threads[0]->schedulers[SCHEDULER_GENERAL].waiting,
                                 others ? 2 * count : 0);
        }
}

/* The last arrival of a block's late loads is noted for the exits after the block. */
TEST(late_loads_are_known_from_then_on)
{
        struct rig *rig = rig_with_places(PLACES, 0, 0);
        rig->hot.ready[FIRST_SLOT + 3] = 777;
        rig->hot.late = 1ull << (FIRST_SLOT + 3);
        scheduler_issue(&rig->hot, rig->threads[0], NULL);
        assert_int_equal(rig->hot.late_until, 777);
}
