/* SPDX-License-Identifier: MIT */
/* Decides which of two calibrations is retained, and writes its files. */
#include "keeping.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host_preset.h"

/* Removes the preset of an earlier calibration if the new one has none. */
static int keep_preset(const json_t *document, const char *path, const char *preset,
                       struct diag *diag)
{
        struct diag contradiction;
        if (!host_preset_lacks(document, 0) &&
            calibration_check_sense(document, &contradiction) == 0)
                return calibration_write(path, preset, diag);
        return unlink(path) == 0 || errno == ENOENT
                   ? 0
                   : diag_set(diag, -errno,
                              "cannot remove %s, which is of an earlier calibration: %s",
                              path, strerror(errno));
}

static bool is_quick(const json_t *document)
{
        return json_is_true(json_object_get(document, "quick"));
}

/* A trustworthy earlier calibration is retained if the new one is poor or less complete.
 * A poor quick calibration does not replace a poor full one, unless only the quick one
 * can be simulated. */
bool keeping_is_better(struct worth earlier, struct worth now)
{
        bool quicker = now.quick && !earlier.quick;
        if (earlier.poor)
                return quicker && now.poor && (now.lacks_host || !earlier.lacks_host);
        return quicker || now.poor || (now.lacks_host && !earlier.lacks_host);
}

static struct worth worth_of(const json_t *document)
{
        return (struct worth){.quick = is_quick(document),
                              .poor = calibration_is_poor(document),
                              .lacks_host = host_preset_lacks(document, 0) != NULL};
}

/* Says whether EARLIER was retained or replaced. */
static void tell_of(const char *command, const json_t *earlier, const char *before,
                    const char *after)
{
        const char *made = json_string_value(json_object_get(earlier, "made"));
        double worst = calibration_number(earlier, "noise.worst_error");
        char error[32] = "an unknown worst error";
        if (!isnan(worst))
                snprintf(error, sizeof(error), "a worst error of %.1f %%", 100 * worst);
        diag_printf(command, "%s the %s calibration of %s, with %s%s", before,
                    is_quick(earlier) ? "quick" : "full", made ? made : "unknown date",
                    error, after);
}

struct difference keeping_difference(const json_t *earlier, const json_t *now)
{
        static const struct {
                const char *path, *name, *unit;
        } figures[] = {
            {"clocks.core_ghz", "the core's clock", "GHz"},
            {"caches.levels.0.latency_ns", "the latency of L1", "ns"},
            {"caches.levels.1.latency_ns", "the latency of L2", "ns"},
            {"caches.levels.2.latency_ns", "the latency of L3", "ns"},
            {"memory.0.latency_ns", "the latency of memory", "ns"},
            {"tlb.walk_ns", "the cost of a page walk", "ns"},
            {"sharing.modified_ns", "the latency of modified lines", "ns"},
            {"bandwidth.peak_read_gbs", "the peak bandwidth of loads", "GB/s"},
            {"bandwidth.peak_write_gbs", "the peak bandwidth of stores", "GB/s"},
        };
        struct difference most = {NULL, NULL, NAN, NAN};
        double farthest = -1;
        for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
                double a = calibration_number(earlier, figures[i].path);
                double b = calibration_number(now, figures[i].path);
                if (!(a > 0) || !(b > 0) || fabs(log(b / a)) <= farthest)
                        continue;
                farthest = fabs(log(b / a));
                most = (struct difference){figures[i].name, figures[i].unit, a, b};
        }
        return most;
}

static void tell_difference(const char *command, const json_t *earlier, const json_t *now)
{
        struct difference most = keeping_difference(earlier, now);
        if (most.name)
                diag_printf(command,
                            "it and this one differ most in %s: %.4g %s there, %.4g here "
                            "(%+.0f %%)",
                            most.name, most.earlier, most.unit, most.now,
                            100 * (most.now / most.earlier - 1));
}

bool keeping_lacks_memory(const char *command, const json_t *document)
{
        if (!isnan(calibration_number(document, "memory.0.latency_ns")))
                return false;
        diag_printf(command,
                    "not kept: memory's latency was not measured, see the notes; "
                    "repeat when the machine is quiet or has more memory to "
                    "spare, or give --force");
        return true;
}

bool keeping_contradicts_itself(const char *command, const json_t *document, bool force)
{
        struct diag diag;
        if (calibration_check_sense(document, &diag) == 0)
                return false;
        diag_printf(command,
                    "%s, as it contradicts itself: %s; something else was at work: "
                    "repeat when the machine is quiet",
                    force ? "no CPU is simulated by this calibration" : "not kept",
                    diag.text);
        return true;
}

bool keeping_earlier(const char *command, const json_t *document)
{
        struct diag diag;
        json_t *earlier;
        if (calibration_load(&earlier, &diag) < 0)
                return false;
        bool better = keeping_is_better(worth_of(earlier), worth_of(document));
        if (better) {
                tell_of(command, earlier,
                        "not kept:", ", stays in use; --force replaces it");
                tell_difference(command, earlier, document);
        } else if (is_quick(document) && !is_quick(earlier)) {
                tell_of(command, earlier, "this quick calibration replaces", "");
        }
        json_decref(earlier);
        return better;
}

static int keep(const char *command, const struct machine_identity *identity,
                const json_t *document, struct diag *diag)
{
        char *path = calibration_path(identity, ".json", diag);
        char *preset_path = calibration_path(identity, ".conf", diag);
        char *text = calibration_text(document);
        char *preset = host_preset(document);
        int rc = -ENOMEM;
        if (path && preset_path) {
                if (!text || !preset)
                        diag_set(diag, rc, "out of memory");
                else
                        rc = calibration_write(path, text, diag);
                if (rc == 0)
                        rc = keep_preset(document, preset_path, preset, diag);
        }
        if (rc == 0)
                fprintf(stderr, "memlag %s: wrote %s\n", command, path);
        free(preset);
        free(text);
        free(preset_path);
        free(path);
        return rc;
}

int keeping_replace(const char *command, const struct machine_identity *identity,
                    json_t **document, struct diag *diag)
{
        int rc = keep(command, identity, *document, diag);
        json_decref(*document);
        *document = NULL;
        return rc == 0 ? calibration_load(document, diag) : rc;
}
