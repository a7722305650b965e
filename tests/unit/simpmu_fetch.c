/* SPDX-License-Identifier: MIT */
/* The simulated front end, on code with known answers. */
#include "simpmu_rig.h"

#include "model/machine/fetch.h"

enum { CODE_LINE = 0x400000 >> LINE_SHIFT, LINE_INSTRUCTIONS = 16 };

/* A machine whose front end is followed, its thread on an idle core. */
static struct rig *rig_with_front_end(const struct simpmu_params *params)
{
        struct rig *rig = allocate(sizeof(*rig));
        machine_init(&rig->machine, params, 30, allocate, take_sample);
        fetch_begin(&rig->machine, true);
        rig->threads[0] = allocate(sizeof(*rig->threads[0]));
        machine_thread_init(&rig->machine, rig->threads[0], 0, 0, NO_SAMPLES, 1);
        machine_thread_runs(&rig->hot, rig->threads[0]);
        rig->count = 1;
        return rig;
}

/* The slots that the front end loses to LINE. */
static uint64_t lost_to(struct rig *rig, uint64_t line)
{
        uint64_t before = rig->hot.fetched;
        fetch_line(&rig->machine, &rig->hot, rig->threads[0], line, LINE_INSTRUCTIONS);
        return rig->hot.fetched - before;
}

static bool is_known(const struct rig *rig, uint64_t line)
{
        return rig->hot.code_line[line & (CODE_LINES - 1)] == line;
}

/* With two decoded a cycle, where four issue, each instruction costs one slot more. */
static const uint64_t decoding = LINE_INSTRUCTIONS;

TEST(decoded_code_is_at_hand)
{
        const struct simpmu_params params = default_params();
        struct rig *rig = rig_with_front_end(&params);
        assert_false(is_known(rig, CODE_LINE));
        assert_true(lost_to(rig, CODE_LINE) > decoding);
        assert_true(is_known(rig, CODE_LINE));
        assert_int_equal(lost_to(rig, CODE_LINE), 0);
}

/* 128 lines fill the cache of decoded code; twice as many are decoded each time. */
TEST(code_beyond_the_op_cache_is_decoded)
{
        const struct simpmu_params params = default_params();
        const uint64_t fit = (uint64_t)params.op_cache_bytes / LINE_BYTES;
        struct rig *rig = rig_with_front_end(&params);
        for (uint64_t lines = fit; lines <= 2 * fit; lines += fit) {
                for (uint64_t pass = 0; pass < 3; pass++) {
                        uint64_t lost = 0;
                        for (uint64_t i = 0; i < lines; i++)
                                lost += lost_to(rig, CODE_LINE + i);
                        if (pass == 2)
                                assert_int_equal(lost,
                                                 lines == fit ? 0 : lines * decoding);
                }
        }
        assert_false(is_known(rig, CODE_LINE));
        assert_true(is_known(rig, CODE_LINE + 2 * fit - 1));
}

/* The slots that the front end loses to LINE when it is not known. */
static uint64_t lost_to_generated(struct rig *rig, uint64_t line)
{
        return is_known(rig, line) ? 0 : lost_to(rig, line);
}

/* Six issue and four are decoded a cycle: each instruction costs another half slot. */
TEST(no_part_of_a_slot_is_lost)
{
        const uint64_t lines = 10000;
        struct simpmu_params params = default_params();
        params.issue_width = 6;
        params.decode_width = 4;
        for (uint32_t instructions = 1; instructions <= 3; instructions += 2) {
                struct rig *rig = rig_with_front_end(&params);
                struct sim_thread *thread = rig->threads[0];
                /* All lines are in L1I, and none in the cache of decoded code. */
                uint64_t round = (uint64_t)params.l1i_bytes / LINE_BYTES;
                uint64_t before = 0;
                for (uint64_t i = 0; i < round + lines; i++) {
                        if (i == round)
                                before = rig->hot.fetched;
                        fetch_line(&rig->machine, &rig->hot, thread,
                                   CODE_LINE + i % round, instructions);
                }
                assert_near((double)(rig->hot.fetched - before),
                            (double)(lines * instructions) / 2, 0.001);
        }
}

/* A line that runs every second time stays: the least recently used line goes. */
TEST(code_in_use_stays_decoded)
{
        const struct simpmu_params params = default_params();
        const uint64_t sets =
            (uint64_t)(params.op_cache_bytes / LINE_BYTES / params.op_cache_ways);
        struct rig *rig = rig_with_front_end(&params);
        uint64_t lost = 0;
        (void)lost_to_generated(rig, CODE_LINE);
        for (uint64_t i = 1; i <= 2000; i++) {
                uint64_t cold = CODE_LINE + i * sets;
                /* Not where the line itself is noted as known. */
                if ((cold - CODE_LINE) % CODE_LINES != 0)
                        assert_true(lost_to_generated(rig, cold) >= decoding);
                lost += lost_to_generated(rig, CODE_LINE);
        }
        assert_int_equal(lost, 0);
}

/* Lines that L1I has evicted come from L2. Right after a wrong prediction they take the
 * whole latency of L2, later only the part that fetching ahead does not hide. */
TEST(lines_of_l2_come_ahead)
{
        const struct simpmu_params params = default_params();
        const uint64_t lines = 1024; /* 64 KiB; L1I has 32 */
        struct rig *rig = rig_with_front_end(&params);
        struct sim_thread *thread = rig->threads[0];
        const uint64_t width = rig->machine.slots_per_cycle;
        for (uint64_t i = 0; i < 2 * lines; i++)
                (void)lost_to(rig, CODE_LINE + i % lines);
        thread_mispredict(&rig->hot, thread, 0, 0, 1);
        assert_int_equal(lost_to(rig, CODE_LINE),
                         decoding + (uint64_t)params.l2_latency_cycles * width);
        rig->hot.fetched += 1000 * width;
        assert_int_equal(
            lost_to(rig, CODE_LINE + 1),
            decoding +
                (uint64_t)(params.l2_latency_cycles - params.fetch_ahead_cycles) * width);
}

/* Instructions issue only after delivery, and a wrong prediction restarts delivery. */
TEST(instructions_wait_for_the_front_end)
{
        const struct simpmu_params params = default_params();
        struct rig *rig = rig_with_front_end(&params);
        struct sim_thread *thread = rig->threads[0];
        rig->hot.fetched = thread->stall + 100;
        fetch_wait(&rig->hot, thread);
        assert_int_equal(rig->hot.stall, 100);
        assert_int_equal(thread->stall, 100);
        rig->hot.fetched = 50;
        fetch_wait(&rig->hot, thread);
        assert_int_equal(thread->stall, 100);
        rig->hot.instructions = 1000;
        thread_mispredict(&rig->hot, thread, 0, 40, 1);
        assert_int_equal(rig->hot.fetched, thread->stall);
}
