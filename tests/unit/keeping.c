/* SPDX-License-Identifier: MIT */
/* Which of two calibrations stays: every possible pair. */
#include "keeping.h"
#include "unit_test.h"

/* Full or quick, good or poor. */
static const struct worth FG = {false, false, false}, FP = {false, true, false},
                          QG = {true, false, false}, QP = {true, true, false};

/* Which of the two can be simulated. */
enum hosts { BOTH, EARLIER, NOW, NEITHER, HOSTS };

static void assert_stays(struct worth earlier, struct worth now, const char *stays)
{
        for (int hosts = BOTH; hosts < HOSTS; hosts++) {
                earlier.lacks_host = hosts == NOW || hosts == NEITHER;
                now.lacks_host = hosts == EARLIER || hosts == NEITHER;
                assert_int_equal(keeping_is_better(earlier, now), stays[hosts] == 'y');
        }
}

TEST(one_stays_for_what_tells_less)
{
        /* A good one: the new one is poor, or quick, or only the earlier one can be
         * simulated. */
        assert_stays(FG, FG, "nynn");
        assert_stays(FG, FP, "yyyy");
        assert_stays(FG, QG, "yyyy");
        assert_stays(FG, QP, "yyyy");
        assert_stays(QG, FG, "nynn");
        assert_stays(QG, FP, "yyyy");
        assert_stays(QG, QG, "nynn");
        assert_stays(QG, QP, "yyyy");
        /* The new one is quick, the earlier one full; both are poor, or simulable. */
        assert_stays(FP, QP, "yyny");
        /* Other poor ones are replaced. */
        assert_stays(FP, FG, "nnnn");
        assert_stays(FP, FP, "nnnn");
        assert_stays(FP, QG, "nnnn");
        assert_stays(QP, FG, "nnnn");
        assert_stays(QP, FP, "nnnn");
        assert_stays(QP, QG, "nnnn");
        assert_stays(QP, QP, "nnnn");
}

/* 20 % more bandwidth is less of a difference than a latency a quarter shorter. */
TEST(the_largest_difference_is_a_ratio)
{
        json_t *earlier =
            json_pack("{s:{s:f}, s:[{s:f}], s:{s:f}, s:{s:f}}", "clocks", "core_ghz", 3.0,
                      "memory", "latency_ns", 100.0, "bandwidth", "peak_read_gbs", 10.0,
                      "sharing", "modified_ns", 50.0);
        json_t *now =
            json_pack("{s:{s:f}, s:[{s:f}], s:{s:f}}", "clocks", "core_ghz", 3.0,
                      "memory", "latency_ns", 75.0, "bandwidth", "peak_read_gbs", 12.0);
        struct difference most = keeping_difference(earlier, now);
        assert_string_equal(most.name, "the latency of memory");
        assert_true(most.earlier == 100 && most.now == 75);
        json_t *nothing = json_object();
        assert_null(keeping_difference(earlier, nothing).name);
        json_decref(nothing);
        json_decref(now);
        json_decref(earlier);
}

TEST(a_calibration_without_memory_is_not_kept)
{
        json_t *with = json_pack("{s:[{s:f}]}", "memory", "latency_ns", 75.0);
        json_t *without = json_pack("{s:[{s:n}]}", "memory", "latency_ns");
        json_t *empty = json_pack("{s:[]}", "memory");
        assert_false(keeping_lacks_memory("test", with));
        assert_true(keeping_lacks_memory("test", without));
        assert_true(keeping_lacks_memory("test", empty));
        json_decref(empty);
        json_decref(without);
        json_decref(with);
}
