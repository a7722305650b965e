/* SPDX-License-Identifier: MIT */
/* Line use and reuse of sampled lines; watching changes nothing else. */
#include "simpmu_rig.h"

#define PERIOD 7u

enum { FACTS_MAX = 65536 };

static struct {
        uint32_t sample;
        uint64_t value;
} used[FACTS_MAX], reused[FACTS_MAX];
static uint32_t used_count, reused_count;

static void take_fact(uint32_t sample, enum line_fact fact, uint64_t value)
{
        if (fact == LINE_USED) {
                assert_true(used_count < FACTS_MAX);
                used[used_count].sample = sample;
                used[used_count++].value = value;
        } else {
                assert_true(reused_count < FACTS_MAX);
                reused[reused_count].sample = sample;
                reused[reused_count++].value = value;
        }
}

static struct rig *watched_rig(uint32_t threads)
{
        const uint32_t beyond_l1 = (uint32_t)default_params().l1d_latency_cycles + 1;
        struct rig *rig = default_rig(threads, beyond_l1, PERIOD);
        used_count = reused_count = 0;
        watch_init(&rig->machine.watch, take_fact, allocate);
        machine_thread_runs(&rig->hot, rig->threads[0]);
        return rig;
}

/* Asserts that more than LEAST samples used exactly the bytes VALUE of their line. */
static void assert_all_used(struct rig *rig, uint64_t least, uint64_t value)
{
        watch_finish(&rig->machine.watch);
        assert_true(used_count > least);
        for (uint32_t i = 0; i < used_count; i++)
                assert_int_equal(used[i].value, value);
}

/* A second field is read later, when the line is still in L2 and no longer in L1. */
TEST(bytes_used_in_l2_count)
{
        struct rig *rig = watched_rig(1);
        const uint64_t block = 64 * KIB; /* L2 keeps it, and L1 does not */
        for (uint64_t at = 0; at < 4 * MIB; at += block) {
                for (uint64_t i = 0; i < block; i += LINE_BYTES)
                        touch(rig, ACCESS_LOAD, at + i + 8, 100);
                for (uint64_t i = 0; i < block; i += LINE_BYTES)
                        touch(rig, ACCESS_STORE, at + i + 48, 100);
        }
        assert_all_used(rig, 4 * MIB / LINE_BYTES / PERIOD * 9 / 10,
                        0xffull << 8 | 0xffull << 48);
}

/* Bytes used after the line has left L2 belong to its next stay. */
TEST(a_stay_ends_when_l2_loses_the_line)
{
        struct rig *rig = watched_rig(1);
        for (uint64_t field = 0; field < LINE_BYTES; field += WORD_BYTES)
                for (uint64_t at = 0; at < MIB; at += LINE_BYTES)
                        touch(rig, ACCESS_LOAD, at + field, 100);
        watch_finish(&rig->machine.watch);
        assert_true(used_count > 8 * MIB / LINE_BYTES / PERIOD * 9 / 10);
        for (uint32_t i = 0; i < used_count; i++)
                assert_int_equal(__builtin_popcountll(used[i].value), WORD_BYTES);
}

/* Much used lines of L1 are slow to watch until they use no other byte for long. */
TEST(much_used_lines_are_watched_no_longer)
{
        struct rig *rig = watched_rig(1);
        for (uint64_t at = 0; at < 16 * KIB; at += LINE_BYTES) {
                for (uint32_t i = 0; i < WATCH_IDLE_MAX + 1; i++)
                        touch(rig, ACCESS_LOAD, at, 100);
                assert_true(passes_filter(rig, ACCESS_LOAD, at));
                touch(rig, ACCESS_LOAD, at + 32, 100);
        }
        assert_all_used(rig, 0, 0xff);
}

/* Lines that the prefetchers bring have their use, too. */
TEST(prefetched_lines_are_watched)
{
        struct rig *rig = watched_rig(1);
        rig->machine.prefetch = UINT32_MAX;
        for (uint64_t at = 0; at < 4 * MIB; at += LINE_BYTES) {
                touch(rig, ACCESS_LOAD, at, 10);
                touch(rig, ACCESS_LOAD, at + 24, 10);
        }
        assert_all_used(rig, 4 * MIB / LINE_BYTES / PERIOD / 2, 0xffull | 0xffull << 24);
}

/* Loops over BYTES need a cache of BYTES, wherever the lines lie in memory. */
static void loop_over(uint64_t bytes, bool in_order)
{
        struct rig *rig = watched_rig(1);
        const uint64_t lines = bytes / LINE_BYTES;
        const uint32_t passes = 4;
        uint32_t again = 0;
        for (uint64_t i = 0; i < passes * lines; i++)
                touch(rig, ACCESS_LOAD,
                      in_order ? i % lines * LINE_BYTES : scattered(i % lines, bytes),
                      100);
        watch_finish(&rig->machine.watch);
        for (uint32_t i = 0; i < reused_count; i++) {
                if (reused[i].value == 0)
                        continue;
                again++;
                assert_near((double)reused[i].value, (double)bytes, 0.01);
        }
        assert_near(again, (double)((passes - 1) * lines / PERIOD), 0.02);
        assert_near(reused_count - again, (double)(lines / PERIOD), 0.05);
}

TEST(a_loop_needs_a_cache_of_its_size)
{
        for (uint64_t bytes = 256 * KIB; bytes <= 4 * MIB; bytes *= 2) {
                loop_over(bytes, true);
                loop_over(bytes, false);
                free_blocks(NULL);
        }
}

/* A cache of a quarter of the lines has a quarter of random reads. */
TEST(random_reads_need_as_much_as_they_hit)
{
        struct rig *rig = watched_rig(1);
        const uint64_t lines = 2 * MIB / LINE_BYTES;
        for (uint64_t i = 0; i < 12 * lines; i++)
                touch(rig, ACCESS_LOAD, random_below(lines) * LINE_BYTES, 100);
        watch_finish(&rig->machine.watch);
        for (uint64_t quarter = 1; quarter <= 3; quarter++) {
                uint32_t hits = 0, asked = 0;
                /* Late samples do not live to see the reuse before the run ends. */
                for (uint32_t i = 0; i < reused_count; i++) {
                        if (reused[i].sample > reused_count / 2)
                                continue;
                        asked++;
                        hits +=
                            reused[i].value != 0 && reused[i].value <= quarter * MIB / 2;
                }
                /* L1, of 32 KiB, serves the nearest reuses. */
                const double in_l1 = 32.0 / 2048, all = (double)quarter / 4;
                const double ratio = (double)hits / asked;
                assert_true(ratio > (all - in_l1) / (1 - in_l1) - 0.02 &&
                            ratio < (all - in_l1) / (1 - in_l1) + 0.02);
        }
}

static uint64_t random_program(bool watches, bool prefetches, uint64_t *samples)
{
        struct rig *rig = watches ? watched_rig(2) : default_rig(2, 6, PERIOD);
        uint64_t random = 1;
        machine_thread_runs(&rig->hot, rig->threads[0]);
        rig->machine.prefetch = prefetches ? UINT32_MAX : 0;
        for (uint64_t i = 0; i < 300000; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                const uint64_t range = i % 5 == 0 ? 3 * MIB : 40 * KIB;
                if (i % 1000 == 0)
                        run_thread(rig, i / 1000 % 2);
                touch_at(rig, i % 7,
                         random >> 60 == 0
                             ? ACCESS_STORE
                             : (random >> 60 == 1 ? ACCESS_UPDATE : ACCESS_LOAD),
                         (random >> 20) % (range / 4) * 4, 1 + i % 3);
        }
        *samples = samples_taken;
        return now_cycles(rig, 0) + now_cycles(rig, 1);
}

TEST(watching_changes_no_time)
{
        for (int prefetches = 0; prefetches < 2; prefetches++) {
                uint64_t samples, watched_samples;
                const uint64_t cycles = random_program(false, prefetches, &samples);
                assert_int_equal(random_program(true, prefetches, &watched_samples),
                                 cycles);
                assert_int_equal(watched_samples, samples);
                assert_true(used_count > 100 && reused_count > 1000);
                free_blocks(NULL);
        }
}

static void *forget_store(const struct sim_sample *sample)
{
        return NULL;
}

/* A store to two lines brings the second one. The first one is not watched for that. */
TEST(accesses_to_two_lines_are_not_watched)
{
        struct rig *rig = watched_rig(1);
        rig->machine.on_store = forget_store;
        for (uint64_t at = 0; at < 4 * MIB; at += 2 * LINE_BYTES) {
                touch(rig, ACCESS_LOAD, at, 100);
                touch(rig, ACCESS_STORE, at + LINE_BYTES - 4, 100);
        }
        assert_all_used(rig, 0, 0xffull | 0xfull << 60);
}

/* The parent reports the lines that were watched before a fork. */
TEST(forgotten_samples_are_not_told)
{
        struct rig *rig = watched_rig(1);
        for (uint64_t at = 0; at < 256 * KIB; at += LINE_BYTES)
                touch(rig, ACCESS_LOAD, at, 100);
        watch_forget(&rig->machine.watch);
        const uint32_t before = rig->machine.watch.samples;
        for (uint64_t at = 0; at < MIB; at += LINE_BYTES)
                touch(rig, ACCESS_LOAD, at + 16, 100);
        watch_finish(&rig->machine.watch);
        assert_true(before > 0 && used_count > 0);
        for (uint32_t i = 0; i < used_count; i++)
                assert_true(used[i].sample > before);
}
