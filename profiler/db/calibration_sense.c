/* SPDX-License-Identifier: MIT */
/* Checks a calibration for consistency. On a busy or migrating machine each value can
 * look plausible while the values contradict each other. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "calibration.h"

enum { LEVELS = 3 };

/* Loads that hit L1 take 3 to 6 cycles on all x86-64; the measured clock adds an
 * error. */
static const double L1_CYCLES_LEAST = 2.5, L1_CYCLES_MOST = 8;

/* Precision of sizes from a curve's steps; the last-level cache may be shared with
 * others, and then looks smaller. */
static const double SIZE_FACTOR = 2.5;

/* If the latency rises at less than this part of a cache's size, the cache is
 * implausible. */
static const double PLATEAU_PART = 0.25;

static double level_number(const json_t *document, int level, const char *key)
{
        char path[64];
        snprintf(path, sizeof(path), "caches.levels.%d.%s", level, key);
        return calibration_number(document, path);
}

static int contradiction_in_order(const json_t *document, struct diag *diag)
{
        static const char *const names[] = {"L1", "L2", "L3", "memory"};
        const char *before_name = NULL;
        double before = NAN;
        for (int level = 0; level <= LEVELS; level++) {
                double ns = level < LEVELS
                                ? level_number(document, level, "latency_ns")
                                : calibration_number(document, "memory.0.latency_ns");
                if (isnan(ns))
                        continue;
                if (ns <= before)
                        return diag_set(diag, -ERANGE,
                                        "%s takes %.1f ns, no more than %s with %.1f",
                                        names[level], ns, before_name, before);
                before = ns;
                before_name = names[level];
        }
        return 0;
}

static int contradiction_in_l1(const json_t *document, struct diag *diag)
{
        double cycles = level_number(document, 0, "latency_cycles");
        if (isnan(cycles) || (cycles >= L1_CYCLES_LEAST && cycles <= L1_CYCLES_MOST))
                return 0;
        return diag_set(diag, -ERANGE,
                        "loads of L1 take %.1f cycles, and 3 to 6 on every x86-64",
                        cycles);
}

static int contradiction_in_size(const json_t *document, int level, struct diag *diag)
{
        double found = level_number(document, level, "size_bytes");
        double told = level_number(document, level, "reported_bytes");
        bool shared = level == LEVELS - 1;
        if (!(found > 0) || !(told > 0) ||
            (found <= SIZE_FACTOR * told && (shared || found >= told / SIZE_FACTOR)))
                return 0;
        return diag_set(diag, -ERANGE,
                        "L%d has %.0f KiB by the latency, and %.0f KiB as the system "
                        "tells",
                        level + 1, found / 1024, told / 1024);
}

static int contradiction_in_tenants(const json_t *document, struct diag *diag)
{
        double found = calibration_number(document, "tenants.capacity_bytes");
        double told = level_number(document, LEVELS - 1, "reported_bytes");
        if (!(told > 0) || !(found > SIZE_FACTOR * told))
                return 0;
        return diag_set(diag, -ERANGE,
                        "beside other tenants L3 has %.0f KiB, and %.0f KiB as the "
                        "system tells",
                        found / 1024, told / 1024);
}

/* Size at which the curve is half way from the LEVEL's latency to the next level's
 * latency. */
static double rise_bytes(const json_t *document, int level)
{
        double own = level_number(document, level, "latency_ns");
        double next =
            level + 1 < LEVELS ? level_number(document, level + 1, "latency_ns") : NAN;
        if (isnan(next))
                next = calibration_number(document, "memory.0.latency_ns");
        const json_t *curve =
            json_object_get(json_object_get(document, "caches"), "curve");
        size_t index;
        json_t *point;
        json_array_foreach(curve, index, point)
        {
                if (calibration_number(point, "ns") > (own + next) / 2)
                        return calibration_number(point, "size_bytes");
        }
        return NAN;
}

static int contradiction_in_plateau(const json_t *document, int level, struct diag *diag)
{
        double found = level_number(document, level, "size_bytes");
        double rise = rise_bytes(document, level);
        if (!(rise < PLATEAU_PART * found))
                return 0;
        return diag_set(diag, -ERANGE,
                        "L%d has %.0f KiB, and the latency leaves it at %.0f KiB",
                        level + 1, found / 1024, rise / 1024);
}

int calibration_check_sense(const json_t *document, struct diag *diag)
{
        int rc = contradiction_in_order(document, diag);
        if (rc == 0)
                rc = contradiction_in_l1(document, diag);
        for (int level = 0; rc == 0 && level < LEVELS; level++) {
                rc = contradiction_in_size(document, level, diag);
                if (rc == 0)
                        rc = contradiction_in_plateau(document, level, diag);
        }
        return rc == 0 ? contradiction_in_tenants(document, diag) : rc;
}
