/* SPDX-License-Identifier: MIT */
/* The note on a latency under load that never grew. */
#include <jansson.h>

#include "knee_note.h"
#include "unit_test.h"

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

/* An EPYC of family 26, with noise. */
TEST(a_load_that_runs_cannot_saturate_the_memory)
{
        static const struct load loads[] = {{6400, 0.82, 176.3},
                                            {800, 6.19, 184.3},
                                            {200, 19.7, 190.6},
                                            {50, 22.5, 195.2},
                                            {0, 21.6, 194.4}};
        json_t *document = document_of(27.3, 30, loads, 5), *conditions = json_array();
        knee_note(document, conditions);
        assert_int_equal(json_array_size(conditions), 1);
        assert_true(json_is_null(
            json_object_get(json_object_get(document, "loaded"), "knee_gbs")));
        /* A knee that is not known has no such note. */
        json_object_del(json_object_get(document, "loaded"), "knee_gbs");
        knee_note(document, conditions);
        assert_int_equal(json_array_size(conditions), 1);
        json_decref(conditions);
        json_decref(document);
}
