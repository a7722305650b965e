/* SPDX-License-Identifier: MIT */
/* Notes on a latency under load that never grew, or whose turns differed. */
#include <jansson.h>

#include "knee_note.h"
#include "unit_test.h"
#include "unsteady_note.h"

struct load {
        double delay, gbs, ns;
};

/* The document of a machine of two CPUs, with COUNT points under load and no knee. Loads
 * of one thread and of two threads reach ONE_GBS and TWO_GBS. */
static json_t *document_of(double one_gbs, double two_gbs, const struct load *loads,
                           size_t count)
{
        json_t *curve = json_array();
        for (size_t i = 0; i < count; i++)
                json_array_append_new(curve,
                                      json_pack("{s:i, s:f, s:f, s:f}", "threads", 1,
                                                "delay_nops", loads[i].delay, "gbs",
                                                loads[i].gbs, "latency_ns", loads[i].ns));
        json_t *document = json_pack(
            "{s:{s:o, s:f, s:n}, s:{s:[{s:i, s:f}, {s:i, s:f}], s:f}}", "loaded", "curve",
            curve, "idle_ns", 161.0, "knee_gbs", "bandwidth", "threads", "threads", 1,
            "read_gbs", one_gbs, "threads", 2, "read_gbs", two_gbs, "peak_read_gbs",
            one_gbs > two_gbs ? one_gbs : two_gbs);
        assert_non_null(document);
        return document;
}

/* Whether the note says that nothing is known, and no knee is claimed to be absent. */
static bool is_unknown(json_t *document)
{
        json_t *conditions = json_array();
        knee_note(document, conditions);
        assert_int_equal(json_array_size(conditions), 1);
        const char *meaning =
            json_string_value(json_object_get(json_array_get(conditions, 0), "meaning"));
        bool unknown = strstr(meaning, "not known: the load had no CPU") != NULL;
        assert_true(unknown == (strstr(meaning, "cannot saturate") == NULL));
        assert_true(unknown == (json_object_get(json_object_get(document, "loaded"),
                                                "knee_gbs") == NULL));
        json_decref(conditions);
        json_decref(document);
        return unknown;
}

/* Other programs had 80 % of the CPUs' time: an EPYC of family 26. */
TEST(a_load_without_cpu_tells_nothing)
{
        static const struct load loads[] = {{6400, 0.46, 206},
                                            {800, 1.69, 188.3},
                                            {200, 5.28, 183.5},
                                            {50, 5.47, 180.8},
                                            {0, 5.88, 181.2}};
        assert_true(is_unknown(document_of(41.5, 38.9, loads, 5)));
}

/* Its bandwidth rose, and fell again with less delay. */
TEST(a_curve_that_runs_backwards_tells_nothing)
{
        static const struct load loads[] = {{6400, 0.77, 170.7},
                                            {200, 14.1, 185.5},
                                            {50, 16.1, 189.2},
                                            {0, 11.05, 189.2}};
        assert_true(is_unknown(document_of(20, 22, loads, 4)));
}

/* The same machine when it had a CPU, with noise. */
TEST(a_load_that_runs_cannot_saturate_the_memory)
{
        static const struct load loads[] = {{6400, 0.82, 176.3},
                                            {800, 6.19, 184.3},
                                            {200, 19.7, 190.6},
                                            {50, 22.5, 195.2},
                                            {0, 21.6, 194.4}};
        assert_false(is_unknown(document_of(27.3, 30, loads, 5)));
}

/* The meaning of the note on a curve of two points, with what eight of ten turns of each
 * took; "" for none. The text is CONDITIONS'. */
static const char *unsteadiness(json_t *conditions, double low, double high,
                                double loaded_low, double loaded_high)
{
        json_t *document =
            json_pack("{s:{s:[{s:i, s:f, s:f, s:f}, {s:i, s:f, s:f, s:f}]}}", "loaded",
                      "curve", "delay_nops", 6400, "latency_ns", 165.0, "p10_ns", low,
                      "p90_ns", high, "delay_nops", 100, "latency_ns", 202.0, "p10_ns",
                      loaded_low, "p90_ns", loaded_high);
        assert_non_null(document);
        json_array_clear(conditions);
        unsteady_note(document, conditions);
        json_decref(document);
        const char *meaning =
            json_string_value(json_object_get(json_array_get(conditions, 0), "meaning"));
        return meaning ? meaning : "";
}

/* Two calibrations whose latencies were up to 8 % apart, each known to 4 %. */
TEST(turns_that_differ_are_told)
{
        json_t *conditions = json_array();
        assert_string_equal(unsteadiness(conditions, 162, 170, 197, 214), "");
        const char *meaning = unsteadiness(conditions, 165, 180, 196, 245);
        assert_non_null(strstr(meaning,
                               "delay 100 eight of ten turns took 196 to 245 ns, "
                               "12 % of the latency on either side"));
        meaning = unsteadiness(conditions, 150, 200, 196, 230);
        assert_non_null(strstr(meaning, "delay 6400 eight of ten turns took 150 to 200"));
        json_array_clear(conditions);
        json_t *empty = json_object();
        unsteady_note(empty, conditions);
        assert_int_equal(json_array_size(conditions), 0);
        json_decref(empty);
        json_decref(conditions);
}
