/* SPDX-License-Identifier: MIT */
/* Explains why a calibration has no knee. */
#include "knee_note.h"

#include <math.h>

#include "calibration.h"
#include "conditions.h"

static double most_of(const json_t *curve, const char *key)
{
        size_t index;
        json_t *point;
        double most = 0;
        json_array_foreach(curve, index, point) most =
            fmax(most, calibration_number(point, key));
        return most;
}

void knee_note(const json_t *document, json_t *conditions)
{
        const json_t *loaded = json_object_get(document, "loaded");
        const json_t *curve = json_object_get(loaded, "curve");
        const json_t *bandwidth = json_object_get(document, "bandwidth");
        double idle_ns = calibration_number(loaded, "idle_ns");
        double peak_gbs = calibration_number(bandwidth, "peak_read_gbs");
        double threads = calibration_number(loaded, "curve.0.threads");
        if (!json_is_null(json_object_get(loaded, "knee_gbs")) || isnan(threads) ||
            isnan(peak_gbs))
                return;
        double most_gbs = most_of(curve, "gbs");
        const char *plural = threads == 1 ? "" : "s";
        conditions_add(
            conditions, "no-knee",
            "beside %.0f thread%s the latency was %.0f %% over the idle one at most, and "
            "the nearest curve that never falls did not reach a quarter: with the chase "
            "%s "
            "moved %.1f GB/s, %.0f %% of the %.1f that loads reach, %s; verdicts go by "
            "%.1f GB/s, half of what loads reach, instead",
            threads, plural, fmax(0, 100 * (most_of(curve, "latency_ns") / idle_ns - 1)),
            threads == 1 ? "it" : "they", most_gbs, 100 * most_gbs / peak_gbs, peak_gbs,
            most_gbs < 0.95 * peak_gbs ? "so these CPUs cannot saturate it beside a chase"
                                       : "and the memory hardly shows that it is full",
            peak_gbs / 2);
}
