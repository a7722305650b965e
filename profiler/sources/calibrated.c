/* SPDX-License-Identifier: MIT */
/* Delivers values of this machine's calibration as facts for the recording's
 * analysis. */
#include "calibrated.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "json_file.h"

/* Delivers the peak bandwidth of each measured thread count N as KEY_N, from field
 * MEASURED. */
static int deliver_peaks(struct sink *sink, const json_t *document, const char *key,
                         const char *measured, const char *origin, struct diag *diag)
{
        const json_t *bandwidth = json_object_get(document, "bandwidth");
        size_t index;
        json_t *point;
        int rc = 0;
        json_array_foreach(json_object_get(bandwidth, "threads"), index, point)
        {
                double cores = calibration_number(point, "threads");
                double gbs = calibration_number(point, measured);
                char numbered[48];
                if (rc < 0 || !(cores >= 1 && cores <= UINT16_MAX) || !(gbs > 0))
                        continue;
                snprintf(numbered, sizeof(numbered), "%s_%.0f", key, cores);
                rc = sink_machine(sink, numbered, gbs, "GB/s", origin, diag);
        }
        return rc;
}

enum { ORIGIN_BYTES = 64 };

static void write_origin(const json_t *document, char *origin)
{
        const char *made = json_string_value(json_object_get(document, "made"));
        snprintf(origin, ORIGIN_BYTES, "calibration of %.20s", made ? made : "?");
}

/* 0 in the calibration: all cores do not saturate the memory, so no number does. */
static int deliver_saturating_cores(struct sink *sink, const json_t *document,
                                    const char *origin, struct diag *diag)
{
        double cores = calibration_number(document, "bandwidth.saturating_threads");
        return cores > 0
                   ? sink_machine(sink, "saturating_cores", cores, "cores", origin, diag)
                   : 0;
}

/* Delivers values that need measurements with several threads; presets lack them. */
static int deliver_of_threads(struct sink *sink, const json_t *document,
                              const char *origin, struct diag *diag)
{
        int rc = deliver_saturating_cores(sink, document, origin, diag);
        if (rc == 0)
                rc = deliver_peaks(sink, document, "dram_bandwidth_gbs", "read_gbs",
                                   origin, diag);
        if (rc == 0)
                rc = deliver_peaks(sink, document, "dram_write_bandwidth_gbs",
                                   "write_gbs", origin, diag);
        return rc;
}

static int deliver(struct sink *sink, const json_t *document, struct diag *diag)
{
        static const struct {
                const char *key;
                const char *path;
                double factor;
                const char *unit;
        } facts[] = {
            {"clock_mhz", "clocks.core_ghz", 1000, "MHz"},
            {"cores", "machine.cpus", 1, "cores"},
            {"l1d_bytes", "caches.levels.0.size_bytes", 1, "bytes"},
            {"l1d_latency_cycles", "caches.levels.0.latency_cycles", 1, "cycles"},
            {"l2_bytes", "caches.levels.1.size_bytes", 1, "bytes"},
            {"l2_latency_cycles", "caches.levels.1.latency_cycles", 1, "cycles"},
            {"l3_bytes", "caches.levels.2.size_bytes", 1, "bytes"},
            {"l3_latency_cycles", "caches.levels.2.latency_cycles", 1, "cycles"},
            {"dram_latency_cycles", "memory.0.latency_cycles", 1, "cycles"},
            {"dram_bandwidth_gbs", "bandwidth.peak_read_gbs", 1, "GB/s"},
            {"dram_write_bandwidth_gbs", "bandwidth.peak_write_gbs", 1, "GB/s"},
            {"dram_knee_gbs", "loaded.knee_gbs", 1, "GB/s"},
            {"idle_lmrl_cycles", "loaded.idle_lmrl_cycles", 1, "cycles"},
            {"lmrl_threshold_cycles", "loaded.lmrl_threshold_cycles", 1, "cycles"},
        };
        char origin[ORIGIN_BYTES];
        write_origin(document, origin);
        int rc = deliver_of_threads(sink, document, origin, diag);
        for (size_t i = 0; rc == 0 && i < sizeof(facts) / sizeof(facts[0]); i++) {
                double value = calibration_number(document, facts[i].path);
                if (!isnan(value))
                        rc = sink_machine(sink, facts[i].key, value * facts[i].factor,
                                          facts[i].unit, origin, diag);
        }
        return rc;
}

static int store(struct db *db, const json_t *document, struct diag *diag)
{
        char *text = calibration_text(document);
        if (!text)
                return diag_no_memory(diag);
        int rc = db_run_set_text(db, "calibration", text, diag);
        free(text);
        return rc;
}

/* Writes the reason why DOCUMENT may be inaccurate into TEXT; false: it is good. */
static bool describe_poor(const json_t *document, char *text, size_t size)
{
        const json_t *noise = json_object_get(document, "noise");
        const char *figure = json_string_value(json_object_get(noise, "worst_figure"));
        double error = calibration_number(noise, "worst_error");
        struct diag diag;
        char known[32] = "unknown";
        if (calibration_check_sense(document, &diag) < 0) {
                snprintf(text, size, "it contradicts itself: %s", diag.text);
                return true;
        }
        if (!calibration_is_poor(document))
                return false;
        if (!isnan(error))
                snprintf(known, sizeof(known), "%.0f %%", 100 * error);
        snprintf(text, size, "worst error %s, of %s", known, figure ? figure : "?");
        return true;
}

/* Records the defects of a calibration in the run's key calibration_poor. HOST: the
 * calibration parametrises a simulated CPU. */
static int mark_poor(struct db *db, const json_t *document, const char *origin, bool host,
                     struct diag *diag)
{
        char why[sizeof(struct diag) + 32];
        if (!describe_poor(document, why, sizeof(why)))
                return 0;
        if (host)
                diag_printf("record",
                            "--sim-cpu host: the %s is poor (%s): its times may be far "
                            "from this machine's%s; run 'memlag calibrate' again when it "
                            "is quiet",
                            origin, why,
                            strstr(why, "the latency of modified lines")
                                ? ", and how much of the latency is said to come of "
                                  "sharing cannot be believed"
                                : "");
        return db_run_set_text(db, "calibration_poor", why, diag);
}

int calibrated_machine(struct db *db, struct sink *sink, struct diag *diag)
{
        json_t *document;
        int rc = calibration_load(&document, diag);
        if (rc < 0)
                return json_file_can_miss(rc, "record", diag) ? 0 : rc;
        rc = store(db, document, diag);
        if (rc == 0)
                rc = mark_poor(db, document, "", false, diag);
        if (rc == 0)
                rc = deliver(sink, document, diag);
        json_decref(document);
        return rc;
}

int calibrated_host(struct db *db, struct sink *sink, struct diag *diag)
{
        json_t *document;
        int rc = calibration_load(&document, diag);
        if (rc < 0)
                return json_file_can_miss(rc, "record", diag) ? 0 : rc;
        char origin[ORIGIN_BYTES];
        write_origin(document, origin);
        rc = mark_poor(db, document, origin, true, diag);
        if (rc == 0)
                rc = store(db, document, diag);
        if (rc == 0)
                rc = deliver_of_threads(sink, document, origin, diag);
        json_decref(document);
        return rc;
}
