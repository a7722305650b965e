/* SPDX-License-Identifier: MIT */
/* A confidence interval describes how well this calibration knows the lowest decile of
 * its turns. Another calibration may differ by other tenants' load: the range of the
 * turns shows how much. */
#include "unsteady_note.h"

#include <math.h>

#include "calibration.h"
#include "conditions.h"

/* Share of the value on either side: the agreement expected between two calibrations. */
static const double STEADY_PART = 0.05;

static double spread_of(const json_t *point)
{
        return (calibration_number(point, "p90_ns") -
                calibration_number(point, "p10_ns")) /
               2 / calibration_number(point, "latency_ns");
}

void unsteady_note(const json_t *document, json_t *conditions)
{
        const json_t *curve =
            json_object_get(json_object_get(document, "loaded"), "curve");
        const json_t *worst = NULL;
        size_t index;
        json_t *point;
        json_array_foreach(curve, index, point)
        {
                double least = worst ? spread_of(worst) : STEADY_PART;
                if (spread_of(point) > least)
                        worst = point;
        }
        if (worst)
                conditions_add(
                    conditions, "unsteady",
                    "beside a load with delay %.0f eight of ten turns took %.0f to %.0f "
                    "ns, %.0f %% of the latency on either side: neighbours use the same "
                    "memory, and another calibration's latencies under load may be as "
                    "far from these; repeat when the machine is quiet",
                    calibration_number(worst, "delay_nops"),
                    calibration_number(worst, "p10_ns"),
                    calibration_number(worst, "p90_ns"), 100 * spread_of(worst));
}
