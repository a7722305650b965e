/* SPDX-License-Identifier: MIT */
/* Plausible and impossible calibrations: a published Zen 3 (AnandTech, AMD Zen 3 Ryzen
 * Deep Dive Review, 2020), and a Zen 3 with figures of busy machines. */
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

TEST(figures_that_cannot_be_true_do_not)
{
        struct figures with = zen3;
        const struct {
                double *figure, value;
        } cases[] = {
            /* Sizes far from the system's. */
            {&with.levels[0].kib, 362},
            {&with.levels[1].kib, 64},
            {&with.levels[2].kib, 134000},
            /* A cache slower than the next level. */
            {&with.levels[1].cycles, 3},
            {&with.memory_cycles, 40},
            /* An L1 that no core has. */
            {&with.levels[0].cycles, 11.5},
            {&with.levels[0].cycles, 1.5},
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                with = zen3;
                *cases[i].figure = cases[i].value;
                expect(with, -ERANGE);
        }
        /* An L3 beside other tenants that is larger than all of it. */
        json_t *shared = document_of(&zen3);
        json_object_set_new(shared, "tenants",
                            json_pack("{s:f}", "capacity_bytes", 100 * 1048576.0));
        struct diag diag;
        assert_int_equal(calibration_check_sense(shared, &diag), -ERANGE);
        json_decref(shared);
        /* A plateau whose curve rises before its end. */
        with = zen3;
        with.levels[2].kib = with.levels[2].reported_kib = 131072;
        with.curve[2][0] = 8192;
        with.curve[2][1] = 250;
        expect(with, -ERANGE);
}
