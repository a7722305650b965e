/* SPDX-License-Identifier: MIT */
/* Predictions of the simulated core, on branches of known predictability. */
#define TEST_SETUP make_predictor
#include "simpmu_rig.h"

#define WARM_UP 20000u
#define TIMES   100000u

static struct branch_predictor *predictor;

static int make_predictor(void **state)
{
        predictor = allocate(sizeof(*predictor));
        random_state = 1;
        return 0;
}

static struct branch branch_at(uint64_t ip)
{
        struct branch branch;
        branch_init(&branch, ip);
        return branch;
}

/* The share of wrong predictions of a branch taken as PATTERN's bits say. */
static double wrong_of_pattern(const char *pattern, uint64_t length)
{
        struct branch branch = branch_at(0x401000);
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < WARM_UP + TIMES; i++)
                wrong +=
                    !branch_direction(predictor, &branch, pattern[i % length] == '1') &&
                    i >= WARM_UP;
        return (double)wrong / TIMES;
}

TEST(patterns_are_learnt)
{
        const char *const patterns[] = {"1",   "0",        "10",
                                        "110", "11101000", "111111111111110"};
        for (size_t i = 0; i < LENGTH(patterns); i++) {
                double wrong = wrong_of_pattern(patterns[i], strlen(patterns[i]));
                if (wrong > 0.002)
                        fail_msg("'%s': %g of the predictions are wrong", patterns[i],
                                 wrong);
        }
}

/* Nobody can predict more than half of fair coins, nor more than the bias of others. */
TEST(random_branches_are_mispredicted_as_often_as_must_be)
{
        const uint64_t percents[] = {50, 25, 10};
        for (size_t i = 0; i < LENGTH(percents); i++) {
                struct branch branch = branch_at(0x402000 + i);
                uint64_t wrong = 0;
                random_state = 1;
                for (uint64_t n = 0; n < TIMES; n++)
                        wrong += !branch_direction(predictor, &branch,
                                                   random_below(100) < percents[i]);
                double share = (double)wrong / TIMES, least = (double)percents[i] / 100;
                assert_true(share > 0.97 * least);
                assert_true(share < 1.35 * least);
        }
}

/* A branch that repeats an earlier random branch, with another branch in between. */
TEST(correlated_branches_are_predicted)
{
        struct branch cause = branch_at(0x403000), between = branch_at(0x403010),
                      effect = branch_at(0x403020);
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < WARM_UP + TIMES; i++) {
                bool taken = random_below(2) == 1;
                (void)branch_direction(predictor, &cause, taken);
                (void)branch_direction(predictor, &between, i % 2 != 0);
                wrong += !branch_direction(predictor, &effect, taken) && i >= WARM_UP;
        }
        assert_true((double)wrong / TIMES < 0.01);
}

/* A branch that has settled and then changes for good costs one or a few predictions. */
TEST(a_settled_branch_learns_anew)
{
        struct branch branch = branch_at(0x404000);
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < TIMES; i++)
                wrong += !branch_direction(predictor, &branch, i % 1000 < 500);
        assert_true(wrong >= TIMES / 500 - 1);
        assert_true(wrong <= 5 * TIMES / 500);
}

/* An interpreter's one indirect jump. In a loop, the path to a jump predicts its target.
 * Of random targets only a repetition of the last one is predicted. */
TEST(targets_are_predicted_by_what_came_before)
{
        const uint64_t program[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
        const uint64_t length = LENGTH(program);
        struct branch loop = branch_at(0x405000), random_jump = branch_at(0x406000);
        uint64_t wrong = 0, wrong_random = 0;
        for (uint64_t i = 0; i < WARM_UP + TIMES; i++)
                wrong += !branch_target(predictor, &loop,
                                        0x500000 + 16 * program[i % length]) &&
                         i >= WARM_UP;
        assert_true((double)wrong / TIMES < 0.002);
        for (uint64_t i = 0; i < TIMES; i++)
                wrong_random += !branch_target(predictor, &random_jump,
                                               0x500000 + 16 * random_below(8));
        assert_near((double)wrong_random / TIMES, 7.0 / 8, 0.05);
}

/* Three of four times to one target, else to any of eight: the first is not forgotten. */
TEST(chance_targets_do_not_spoil_the_usual_one)
{
        const double least = 0.25;
        struct branch jump = branch_at(0x407000);
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < TIMES; i++) {
                bool usual = random_below(4) != 0;
                uint64_t other = 1 + random_below(8);
                wrong +=
                    !branch_target(predictor, &jump, 0x600000 + 16 * (usual ? 0 : other));
        }
        assert_true((double)wrong / TIMES > 0.97 * least);
        assert_true((double)wrong / TIMES < 1.35 * least);
}

/* Instructions after a wrongly predicted branch issue so long after its decision. */
TEST(a_misprediction_costs_its_cycles)
{
        const uint64_t rounds = 1000, instructions = 4, cost_cycles = 16,
                       decided_cycles = 9;
        struct simpmu_params params = default_params();
        params.mispredict_cycles = (double)cost_cycles;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        uint64_t cycle = rig->machine.slots_per_cycle;
        for (uint64_t i = 0; i < rounds; i++) {
                rig->hot.instructions += instructions;
                uint64_t now = rig->hot.instructions + rig->hot.stall;
                thread_mispredict(&rig->hot, rig->threads[0],
                                  now + decided_cycles * cycle,
                                  rig->machine.mispredict_cost, 1);
        }
        const uint64_t *value = read_counters(rig, 0);
        assert_int_equal(value[SIMPMU_MISPREDICTS], rounds);
        assert_int_equal(value[SIMPMU_CYCLES],
                         rounds * (instructions / cycle + decided_cycles + cost_cycles));
}

/* The wrong predictions that BRANCH's windows stand for. TAKEN decides each time whether
 * it is taken. It runs once in STEP instructions. */
static double sampled_wrong(struct branch *branch, uint64_t times, uint64_t step,
                            bool (*taken)(uint64_t time))
{
        struct branch_sample sample = branch_sample_windows(1);
        double wrong = 0;
        for (uint64_t i = 0; i < times; i++) {
                bool is_taken = taken(i);
                if (i * step >= sample.end)
                        branch_sample_next(&sample, i * step);
                if (i * step > sample.begin &&
                    !branch_direction(predictor, branch, is_taken))
                        wrong += branch_sample_weight(&sample, branch);
        }
        return wrong;
}

static bool by_chance(uint64_t time)
{
        return random_below(2) == 1;
}

static bool by_turns(uint64_t time)
{
        return time % 3 == 0;
}

/* Windows estimate the number of wrong predictions: an alternating branch is wrong only
 * at the start of a window, a random one half of the times. Some 380 windows, at
 * distances with a deviation of 29 %, give the mean within 1.5 %. */
TEST(windows_stand_for_all_branches)
{
        const uint64_t times = 20000000, step = 5;
        struct branch random = branch_at(0x408000), regular = branch_at(0x409000);
        assert_true(sampled_wrong(&regular, times, step, by_turns) < times / 1000.);
        assert_near(sampled_wrong(&random, times, step, by_chance) / (double)times, 0.5,
                    0.05);
}

/* Without windows, each branch counts once. */
TEST(without_windows_each_counts_once)
{
        const struct branch_sample all = branch_sample_all();
        struct branch branch = branch_at(0x40a000);
        for (uint64_t i = 0; i < 10 * BRANCH_NEW; i++)
                (void)branch_direction(predictor, &branch, i % 2 != 0);
        assert_int_equal(branch_sample_weight(&all, &branch), 1);
}

/* The program waits for each wrong prediction that a sample stands for. */
TEST(weight_multiplies_the_wait)
{
        const uint64_t decided = 30, cost = 56;
        struct rig *rig = default_rig(1, NO_SAMPLES, 1);
        thread_mispredict(&rig->hot, rig->threads[0], decided, cost, 8);
        assert_int_equal(rig->hot.stall, 8 * (decided + cost));
        assert_int_equal(read_counters(rig, 0)[SIMPMU_MISPREDICTS], 8);
}
