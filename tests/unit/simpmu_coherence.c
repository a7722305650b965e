/* SPDX-License-Identifier: MIT */
/* Lines that move between cores: the level that serves a load, its latency, and the
 * number of lost lines. */
#include "simpmu_rig.h"

/* ---- states ---- */

TEST(a_modified_line_is_answered_by_its_core)
{
        struct rig *rig = rig_without_walks(3, 1, 1);
        on_core(rig, 0, ACCESS_STORE, MIB);
        assert_served(SIMPMU_LEVEL_HITM, rig, 1, ACCESS_LOAD, MIB);
        assert_int_equal(latency_cycles(rig), HITM_CYCLES);
        /* Then both have it unmodified, and the L3 too. */
        assert_served(SIMPMU_LEVEL_L3, rig, 2, ACCESS_LOAD, MIB);
        for (uint32_t core = 0; core < 3; core++) {
                assert_served(SIMPMU_LEVEL_L1, rig, core, ACCESS_LOAD, MIB);
        }
}

TEST(a_write_takes_the_line_from_all_others)
{
        struct rig *rig = rig_without_walks(3, 1, 1);
        for (uint32_t core = 0; core < 3; core++)
                on_core(rig, core, ACCESS_LOAD, MIB);
        on_core(rig, 1, ACCESS_STORE, MIB);
        assert_served(SIMPMU_LEVEL_HITM, rig, 0, ACCESS_LOAD, MIB);
        on_core(rig, 1, ACCESS_STORE, MIB);
        on_core(rig, 2, ACCESS_STORE, MIB);
        assert_served(SIMPMU_LEVEL_HITM, rig, 1, ACCESS_LOAD, MIB);
}

/* Other cores share the line: the write must request it through the L3. */
TEST(to_write_a_line_of_several_cores_takes_a_request)
{
        struct simpmu_params params = params_without_walks();
        struct rig *rig = rig_new(&params, 2, 1, 1);
        on_core(rig, 0, ACCESS_LOAD, MIB);
        on_core(rig, 1, ACCESS_LOAD, MIB);
        assert_served(SIMPMU_LEVEL_L3, rig, 1, ACCESS_UPDATE, MIB);
        assert_int_equal(latency_cycles(rig), (uint64_t)params.l3_latency_cycles);
        /* No other core has it now: the write needs no request. */
        uint64_t samples = samples_taken;
        on_core(rig, 1, ACCESS_UPDATE, MIB);
        assert_int_equal(samples_taken, samples);
        assert_served(SIMPMU_LEVEL_HITM, rig, 0, ACCESS_UPDATE, MIB);
        assert_int_equal(latency_cycles(rig), HITM_CYCLES);
}

/* A line that a lone thread wrote is in its core when another thread reads the line. */
TEST(what_one_thread_has_prepared_is_found_in_its_core)
{
        struct rig *rig = rig_without_walks(1, 1, 1);
        struct sim_thread *second = allocate(sizeof(*second));
        on_core(rig, 0, ACCESS_STORE, MIB);
        machine_thread_init(&rig->machine, second, 1, 0, 1, 1);
        rig->threads[1] = second;
        rig->count = 2;
        assert_served(SIMPMU_LEVEL_HITM, rig, 1, ACCESS_LOAD, MIB);
}

/* A modified line that left its core is in the L3. */
TEST(a_modified_line_that_was_written_back_comes_from_the_l3)
{
        struct rig *rig = rig_without_walks(2, 1, 1);
        on_core(rig, 1, ACCESS_LOAD, MIB + LINE_BYTES); /* both use the page */
        run_thread(rig, 0);
        touch(rig, ACCESS_STORE, MIB, 1);
        for (uint64_t at = 0; at < 512 * KIB; at += LINE_BYTES)
                touch(rig, ACCESS_LOAD, 4 * MIB + at, 40);
        assert_served(SIMPMU_LEVEL_L3, rig, 1, ACCESS_LOAD, MIB);
}

/* ---- lines that the directory has forgotten ---- */

static void forget_all(struct rig *rig)
{
        memset(rig->machine.shared_lines, 0,
               SHARED_LINES * sizeof(*rig->machine.shared_lines));
}

TEST(a_write_takes_a_forgotten_line_from_all_others)
{
        struct rig *rig = rig_without_walks(3, 1, 1);
        for (uint32_t core = 0; core < 3; core++)
                on_core(rig, core, ACCESS_LOAD, MIB);
        forget_all(rig);
        on_core(rig, 0, ACCESS_UPDATE, MIB);
        for (uint32_t core = 1; core < 3; core++) {
                on_core(rig, 0, ACCESS_STORE, MIB);
                assert_served(SIMPMU_LEVEL_HITM, rig, core, ACCESS_LOAD, MIB);
        }
}

TEST(a_forgotten_line_is_answered_by_the_core_that_modified_it)
{
        struct rig *rig = rig_without_walks(3, 1, 1);
        on_core(rig, 0, ACCESS_LOAD, MIB);
        on_core(rig, 1, ACCESS_STORE, MIB);
        forget_all(rig);
        assert_served(SIMPMU_LEVEL_HITM, rig, 2, ACCESS_LOAD, MIB);
}

/* ---- fights ---- */

/* ++*address, in a block of four instructions: the next one waits for the value. */
static void increment(struct rig *rig, uint64_t address, uint16_t more_instructions)
{
        const struct access_site load = {.size_bytes = WORD_BYTES,
                                         .position = 0,
                                         .kind = ACCESS_LOAD,
                                         .slot = FIRST_SLOT};
        const struct access_site store = {
            .size_bytes = WORD_BYTES, .position = 2, .kind = ACCESS_STORE};
        rig->hot.ready[FIRST_SLOT] = 0;
        run_access(rig, &load, address);
        load_stored(rig, &load, address);
        run_access(rig, &store, address);
        stored_note(&rig->hot, address, FORM_UNKNOWN, rig->hot.ready[FIRST_SLOT]);
        rig->hot.instructions += 4u + more_instructions;
        rig->hot.stores++;
}

/* Two threads on as many NODES increment their words for CYCLES each, in turns of up to
 * TURN cycles beyond the other. Returns the increments of both; *HITM: loads that met a
 * line that the other had modified. */
static uint64_t count_up_on(uint32_t nodes, const uint64_t words[2], uint64_t turn,
                            uint64_t *hitm)
{
        const uint64_t cycles = 500000;
        const uint16_t other_instructions = 36;
        struct simpmu_params params = params_without_walks();
        params.nodes = nodes;
        params.spread = 1;
        struct rig *rig = rig_new(&params, 2, NO_SAMPLES, 1);
        uint64_t count = 0;

        for (uint32_t thread = 0; now_cycles(rig, thread) < cycles; thread = 1 - thread) {
                uint64_t until = now_cycles(rig, 1 - thread) + turn;
                run_thread(rig, thread);
                for (; now_cycles(rig, thread) < until; count++)
                        increment(rig, words[thread], other_instructions);
        }
        *hitm = 0;
        for (uint32_t thread = 0; thread < 2; thread++)
                *hitm += rig->threads[thread]
                             ->counters.loads_at[nodes > 1 ? SIMPMU_LEVEL_REMOTE_HITM
                                                           : SIMPMU_LEVEL_HITM];
        return count;
}

static uint64_t count_up(const uint64_t words[2], uint64_t turn, uint64_t *hitm)
{
        return count_up_on(1, words, turn, hitm);
}

TEST(words_of_one_line_slow_each_other_down)
{
        const uint64_t same_line[2] = {MIB, MIB + WORD_BYTES};
        const uint64_t apart[2] = {MIB, MIB + LINE_BYTES};
        uint64_t hitm, hitm_apart;
        uint64_t together = count_up(same_line, GATE_CYCLES, &hitm);
        uint64_t alone = count_up(apart, GATE_CYCLES, &hitm_apart);
        assert_int_equal(hitm_apart, 0);
        assert_true(together < alone * 3 / 4);
        assert_true(hitm > together / 20);
}

/* Much, wherever the other core is. */
TEST(the_length_of_turns_does_not_show)
{
        const uint64_t same_line[2] = {MIB, MIB + WORD_BYTES};
        uint64_t hitm;
        for (uint32_t nodes = 1; nodes <= 2; nodes++) {
                uint64_t count = count_up_on(nodes, same_line, GATE_CYCLES, &hitm);
                uint64_t count_short =
                    count_up_on(nodes, same_line, GATE_CYCLES / 4, &hitm);
                assert_near((double)count, (double)count_short, 0.25);
        }
}

TEST(a_far_core_slows_down_more)
{
        const uint64_t same_line[2] = {MIB, MIB + WORD_BYTES};
        uint64_t hitm;
        assert_true(count_up_on(2, same_line, GATE_CYCLES, &hitm) <
                    count_up(same_line, GATE_CYCLES, &hitm));
}

/* An atomic addition, and two instructions behind it. */
static void add_atomically(struct rig *rig, uint32_t thread)
{
        const struct access_site site = {.size_bytes = WORD_BYTES,
                                         .kind = ACCESS_UPDATE,
                                         .locked = true,
                                         .slot = FIRST_SLOT};
        rig->hot.ready[FIRST_SLOT] = 0;
        run_access(rig, &site, MIB);
        thread_serialise(&rig->hot, rig->threads[thread], rig->hot.instructions, 0,
                         rig->machine.lock_cost);
        rig->hot.instructions += 3;
        rig->hot.stores++;
}

/* Cycles of an addition to a word that COUNT threads share and do nothing else with. They
 * need some turns to notice. HOLD_PERCENT: hitm.hold_percent. */
static double addition_cycles(uint32_t count, double hold_percent)
{
        struct simpmu_params params = params_without_walks();
        const uint64_t turns = 40, first = 10;
        uint64_t additions = 0;
        params.lock_cycles = 20;
        params.hitm_hold_percent = hold_percent;
        struct rig *rig = rig_new(&params, count, NO_SAMPLES, 1);
        for (uint64_t turn = 1; turn <= turns; turn++) {
                for (uint32_t thread = 0; thread < count; thread++) {
                        run_thread(rig, thread);
                        for (; now_cycles(rig, thread) < turn * GATE_CYCLES;
                             additions += turn > first)
                                add_atomically(rig, thread);
                }
        }
        return (double)((turns - first) * GATE_CYCLES * count) / (double)additions;
}

/* A line goes round all threads: each waits for as many transfers as there are threads.
 * Measured on an i7-4790, where a transfer takes 20 ns: 40 ns for an addition with two
 * threads, 78 ns with four (moderncpp.dev, on false sharing). */
TEST(additions_wait_for_the_transfers_of_all_threads)
{
        assert_near(addition_cycles(2, 0), 2 * HITM_CYCLES, 0.15);
        double of_four = addition_cycles(4, 0);
        assert_true(of_four > 2 * HITM_CYCLES && of_four < 8 * HITM_CYCLES);
}

/* A core keeps the line long enough for three additions of 20 cycles. */
TEST(a_core_that_keeps_its_line_adds_several_times)
{
        assert_near(addition_cycles(2, 100 * 60.0 / HITM_CYCLES), 2 * HITM_CYCLES / 3.0,
                    0.15);
}

/* A reader beside one who writes loses the line; readers alone do not. */
TEST(only_writes_take_lines)
{
        struct rig *rig = rig_without_walks(2, NO_SAMPLES, 1);
        const uint64_t *hitm = &rig->threads[1]->counters.loads_at[SIMPMU_LEVEL_HITM];
        for (uint64_t turn = 1; turn <= 40; turn++) {
                run_thread(rig, 0);
                while (now_cycles(rig, 0) < turn * GATE_CYCLES)
                        touch(rig, turn <= 20 ? ACCESS_STORE : ACCESS_LOAD, MIB, 40);
                run_thread(rig, 1);
                uint64_t before = *hitm;
                while (now_cycles(rig, 1) < turn * GATE_CYCLES)
                        touch(rig, ACCESS_LOAD, MIB + WORD_BYTES, 40);
                if (turn > 3 && turn <= 20)
                        assert_true(*hitm > before + 50);
                if (turn > 23)
                        assert_int_equal(*hitm, before);
        }
}

/* A core that finally keeps the line to itself passes the filter again. */
TEST(a_fight_ends)
{
        struct rig *rig = rig_without_walks(2, NO_SAMPLES, 1);
        for (uint64_t turn = 1; turn <= 20; turn++) {
                for (uint32_t thread = 0; thread < 2; thread++) {
                        run_thread(rig, thread);
                        while (now_cycles(rig, thread) < turn * GATE_CYCLES)
                                increment(rig, MIB + thread * WORD_BYTES, 36);
                }
        }
        assert_false(passes_filter(rig, ACCESS_STORE, MIB));
        for (int i = 0; i < 5000; i++)
                increment(rig, MIB + WORD_BYTES, 36);
        assert_true(passes_filter(rig, ACCESS_STORE, MIB));
}

/* The write that detects the contention removes the line from the filter. */
TEST(a_write_that_begins_a_fight_hides_the_line_from_the_filter)
{
        struct rig *rig = rig_without_walks(2, NO_SAMPLES, 1);
        on_core(rig, 0, ACCESS_LOAD, 2 * MIB); /* the first cycle is none of a fight */
        on_core(rig, 1, ACCESS_STORE, MIB);
        on_core(rig, 0, ACCESS_LOAD, MIB);
        on_core(rig, 0, ACCESS_LOAD, MIB);
        assert_true(passes_filter(rig, ACCESS_LOAD, MIB));
        on_core(rig, 0, ACCESS_STORE, MIB);
        assert_false(passes_filter(rig, ACCESS_LOAD, MIB));
        assert_false(passes_filter(rig, ACCESS_STORE, MIB));
}

TEST(a_line_that_is_handed_over_once_is_no_fight)
{
        struct rig *rig = rig_without_walks(2, NO_SAMPLES, 1);
        on_core(rig, 0, ACCESS_STORE, MIB);
        on_core(rig, 1, ACCESS_LOAD, MIB);
        touch(rig, ACCESS_STORE, MIB, SETTLE);
        touch(rig, ACCESS_STORE, MIB, SETTLE);
        assert_true(passes_filter(rig, ACCESS_STORE, MIB));
}
