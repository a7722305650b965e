/* SPDX-License-Identifier: MIT */
/* Notes name all figures that a calibration lacks; figures without time share a line. */
#include <jansson.h>

#include "left_out_note.h"
#include "survey.h"
#include "unit_test.h"

static const char *meaning(const json_t *conditions, size_t index)
{
        return json_string_value(
            json_object_get(json_array_get(conditions, index), "meaning"));
}

TEST(nothing_left_out_says_nothing)
{
        json_t *none = json_array(), *conditions = json_array();
        struct survey survey = {.left_out = none, .unvisited = none, .drifted = none};
        left_out_note(&survey, conditions);
        assert_int_equal(json_array_size(conditions), 0);
        json_decref(conditions);
        json_decref(none);
}

TEST(figures_without_time_share_a_note)
{
        enum { UNVISITED = 200 };
        json_t *left_out = json_pack("[s]", "L3 (others use all of it)");
        json_t *drifted = json_pack("[s, s]", "a walk (9 %)", "a load (6 %)");
        json_t *unvisited = json_array(), *conditions = json_array();
        struct survey survey = {
            .left_out = left_out, .unvisited = unvisited, .drifted = drifted};
        char name[32], last[40];
        for (int i = 0; i < UNVISITED; i++) {
                snprintf(name, sizeof(name), "figure %d of the core", i);
                json_array_append_new(unvisited, json_string(name));
        }
        left_out_note(&survey, conditions);
        assert_int_equal(json_array_size(conditions), 4);
        assert_non_null(strstr(meaning(conditions, 0), "203 figures"));
        assert_string_equal(meaning(conditions, 1), "L3 (others use all of it)");
        snprintf(last, sizeof(last), ", %s", name);
        assert_non_null(strstr(meaning(conditions, 2), ": figure 0 of"));
        assert_non_null(strstr(meaning(conditions, 2), last));
        assert_non_null(strstr(meaning(conditions, 3), ": a walk (9 %), a load (6 %)"));
        json_decref(drifted);
        json_decref(conditions);
        json_decref(unvisited);
        json_decref(left_out);
}

/* Each figure that --sim-cpu host needs; L2 and L3 if the system reports them. */
TEST(all_that_a_host_lacks_is_named)
{
        json_t *document = json_pack("{s:{s:[{s:i}, {s:i}, {s:i}]}}", "caches", "levels",
                                     "reported_bytes", 32768, "reported_bytes", 1 << 20,
                                     "reported_bytes", 0);
        json_t *conditions = json_array();
        no_host_note(document, conditions);
        assert_int_equal(json_array_size(conditions), 1);
        static const char *const names[] = {"clock",
                                            "latency of L1",
                                            "latency of memory",
                                            "issue in a cycle",
                                            "loads of 1 thread",
                                            "triad of 1 thread",
                                            "peak bandwidth of stores",
                                            "latency of L2"};
        for (size_t i = 0; i < LENGTH(names); i++)
                assert_non_null(strstr(meaning(conditions, 0), names[i]));
        assert_null(strstr(meaning(conditions, 0), "L3"));
        json_decref(conditions);
        json_decref(document);
}
