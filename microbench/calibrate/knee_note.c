/* SPDX-License-Identifier: MIT */
/* Explains why a calibration has no knee. */
#include "knee_note.h"

#include <math.h>
#include <stdbool.h>

#include "calibration.h"
#include "conditions.h"

/* A load with enough CPU time moves more than this part of the bandwidth of the same
 * threads alone. */
static const double STARVED_PART = 0.5;

/* Less delay never reduces the bandwidth. Below this ratio, the load lost its CPU. */
static const double BACKWARDS_PART = 0.75;

/* The bandwidth of THREADS threads alone; the peak if not measured. */
static double alone_gbs(const json_t *bandwidth, double threads)
{
        size_t index;
        json_t *point;
        json_array_foreach(json_object_get(bandwidth, "threads"), index, point)
        {
                double gbs = calibration_number(point, "read_gbs");
                if (calibration_number(point, "threads") == threads && !isnan(gbs))
                        return gbs;
        }
        return calibration_number(bandwidth, "peak_read_gbs");
}

static double most_of(const json_t *curve, const char *key)
{
        size_t index;
        json_t *point;
        double most = 0;
        json_array_foreach(curve, index, point) most =
            fmax(most, calibration_number(point, key));
        return most;
}

/* Whether a point with less delay moved clearly less than another. */
static bool runs_backwards(const json_t *curve)
{
        size_t i, k;
        json_t *more, *less;
        json_array_foreach(curve, i, more)
        {
                double delay = calibration_number(more, "delay_nops");
                double gbs = calibration_number(more, "gbs");
                json_array_foreach(curve, k, less)
                {
                        if (calibration_number(less, "delay_nops") < delay &&
                            calibration_number(less, "gbs") < BACKWARDS_PART * gbs)
                                return true;
                }
        }
        return false;
}

void knee_note(json_t *document, json_t *conditions)
{
        json_t *loaded = json_object_get(document, "loaded");
        const json_t *curve = json_object_get(loaded, "curve");
        const json_t *bandwidth = json_object_get(document, "bandwidth");
        double idle_ns = calibration_number(loaded, "idle_ns");
        double peak_gbs = calibration_number(bandwidth, "peak_read_gbs");
        double threads = calibration_number(loaded, "curve.0.threads");
        if (!json_is_null(json_object_get(loaded, "knee_gbs")) || isnan(threads) ||
            isnan(peak_gbs))
                return;
        double most_gbs = most_of(curve, "gbs");
        double alone = alone_gbs(bandwidth, threads);
        const char *plural = threads == 1 ? "" : "s";
        if (most_gbs < STARVED_PART * alone || runs_backwards(curve)) {
                json_object_del(loaded, "knee_gbs");
                conditions_add(
                    conditions, "no-knee",
                    "not known: the load had no CPU: with the chase %.0f thread%s moved "
                    "%.1f GB/s at most, and %.1f alone, or less with less delay; "
                    "verdicts "
                    "go by %.1f GB/s, half of the %.1f that loads reach; repeat when the "
                    "machine is quiet",
                    threads, plural, most_gbs, alone, peak_gbs / 2, peak_gbs);
                return;
        }
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
