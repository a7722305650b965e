/* SPDX-License-Identifier: MIT */
/* Calibrations that can be true and that cannot: a Zen 3 as published (AnandTech, AMD Zen
 * 3 Ryzen Deep Dive Review, 2020), and the same with figures of machines that were busy.
 */
#include "calibration.h"
#include "unit_test.h"

struct level {
        double kib, reported_kib, cycles;
};

struct figures {
        struct level levels[3];
        double memory_cycles;
        double curve[4][2]; /* KiB, cycles */
};

static const struct figures zen3 = {
    .levels = {{32, 32, 4}, {512, 512, 12}, {32768, 32768, 46}},
    .memory_cycles = 300,
    .curve = {{16, 4}, {256, 12}, {16384, 46}, {131072, 300}},
};

static json_t *document_of(const struct figures *figures)
{
        json_t *levels = json_array(), *curve = json_array();
        for (int i = 0; i < 3; i++)
                json_array_append_new(
                    levels, json_pack("{s:f, s:f, s:f, s:f}", "size_bytes",
                                      1024 * figures->levels[i].kib, "reported_bytes",
                                      1024 * figures->levels[i].reported_kib,
                                      "latency_cycles", figures->levels[i].cycles,
                                      "latency_ns", figures->levels[i].cycles / 4));
        for (int i = 0; i < 4; i++)
                json_array_append_new(curve, json_pack("{s:f, s:f}", "size_bytes",
                                                       1024 * figures->curve[i][0], "ns",
                                                       figures->curve[i][1] / 4));
        return json_pack("{s:{s:o, s:o}, s:[{s:f}]}", "caches", "levels", levels, "curve",
                         curve, "memory", "latency_ns", figures->memory_cycles / 4);
}

static void expect(struct figures figures, int result)
{
        struct diag diag;
        json_t *document = document_of(&figures);
        assert_int_equal(calibration_check_sense(document, &diag), result);
        json_decref(document);
}

TEST(a_machine_as_published_makes_sense)
{
        struct figures figures = zen3;
        expect(figures, 0);
        figures.levels[2].kib = 9000; /* others use the last cache, too */
        figures.curve[2][0] = 8192;
        expect(figures, 0);
        figures.levels[1].reported_kib = 0; /* the system does not tell */
        figures.levels[1].kib = 4096;
        figures.curve[1][0] = 2048;
        expect(figures, 0);
}

TEST(sizes_far_from_the_systems_do_not)
{
        struct figures figures = zen3;
        figures.levels[0].kib = 362;
        expect(figures, -ERANGE);
        figures = zen3;
        figures.levels[1].kib = 64;
        expect(figures, -ERANGE);
        figures = zen3;
        figures.levels[2].kib = 134000;
        expect(figures, -ERANGE);
}

TEST(a_cache_slower_than_the_next_does_not)
{
        struct figures figures = zen3;
        figures.levels[0].cycles = 6;
        figures.levels[1].cycles = 5;
        expect(figures, -ERANGE);
        figures = zen3;
        figures.memory_cycles = 40;
        expect(figures, -ERANGE);
}

TEST(an_l1_that_no_core_has_does_not)
{
        struct figures figures = zen3;
        figures.levels[0].cycles = 11.5;
        expect(figures, -ERANGE);
        figures.levels[0].cycles = 1.5;
        expect(figures, -ERANGE);
}

TEST(a_plateau_that_its_curve_leaves_early_does_not)
{
        struct figures figures = zen3;
        figures.levels[2].reported_kib = 131072;
        figures.levels[2].kib = 131072;
        figures.curve[2][0] = 8192;
        figures.curve[2][1] = 250;
        expect(figures, -ERANGE);
}
