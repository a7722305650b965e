/* SPDX-License-Identifier: MIT */
/* Prints a calibration as tables. */
#include "calibration_show.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calibration.h"
#include "host_preset.h"

static const char *text_of(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(object, key));
        return text ? text : "";
}

/* Prints "-" for an unknown value. */
static void print_or_dash(double value, int width, int digits)
{
        if (value > 0)
                printf(" %*.*f", width, digits, value);
        else
                printf(" %*s", width, "-");
}

/* Says how a level was measured if the sizes of the level did not give its figures. */
static void show_basis(const json_t *levels)
{
        size_t index;
        json_t *level;
        json_array_foreach(levels, index, level)
        {
                double number = calibration_number(level, "level");
                if (strcmp(text_of(level, "basis"), "sizes-just-beyond") == 0)
                        printf(
                            "L%.0f has no sizes of its own, others use it: its latency "
                            "is that just beyond L%.0f, its size the largest that "
                            "is less than half way to memory.\n",
                            number, number - 1);
        }
}

static void show_levels(const json_t *document)
{
        const json_t *levels =
            json_object_get(json_object_get(document, "caches"), "levels");
        size_t index;
        json_t *level;
        printf("%-8s %14s %14s %10s %10s\n", "cache", "measured KiB", "reported KiB",
               "ns", "cycles");
        json_array_foreach(levels, index, level)
        {
                printf("L%-7.0f", calibration_number(level, "level"));
                print_or_dash(calibration_number(level, "size_bytes") / 1024, 14, 0);
                print_or_dash(calibration_number(level, "reported_bytes") / 1024, 14, 0);
                print_or_dash(calibration_number(level, "latency_ns"), 10, 2);
                print_or_dash(calibration_number(level, "latency_cycles"), 10, 1);
                putchar('\n');
        }
        json_array_foreach(json_object_get(document, "memory"), index, level)
        {
                printf("node %-3.0f %14s %14s", calibration_number(level, "node"), "-",
                       "-");
                print_or_dash(calibration_number(level, "latency_ns"), 10, 2);
                print_or_dash(calibration_number(level, "latency_cycles"), 10, 1);
                putchar('\n');
        }
        if (json_array_size(json_object_get(document, "memory")) == 0)
                printf("%-8s %14s %14s %10s %10s\n", "memory", "-", "-", "-", "-");
        show_basis(levels);
}

static void show_tenants(const json_t *document)
{
        const json_t *tenants = json_object_get(document, "tenants");
        double gbs = calibration_number(tenants, "inserted_gbs");
        if (gbs > 0)
                printf("Other tenants bring %.1f GB/s into L3, %.0f KiB: a chase keeps "
                       "%.0f KiB there, overlapping loads %.0f (varied by %.0f %%).\n",
                       gbs, calibration_number(tenants, "capacity_bytes") / 1024,
                       calibration_number(tenants, "chase_bytes") / 1024,
                       calibration_number(tenants, "overlapping_bytes") / 1024,
                       100 * calibration_number(tenants, "variation"));
}

static void show_tlb(const json_t *document)
{
        double first = calibration_number(document, "tlb.first_pages");
        double second = calibration_number(document, "tlb.second_pages");
        double walk_ns = calibration_number(document, "tlb.walk_ns");
        if (isnan(first) || isnan(second))
                fputs("TLB      -", stdout);
        else
                printf("TLB      first level %.0f pages, second %.0f", first, second);
        if (!isnan(walk_ns))
                printf("; a walk adds %.1f ns", walk_ns);
        putchar('\n');
}

static void show_sharing(const json_t *document)
{
        double ns = calibration_number(document, "sharing.modified_ns");
        double one_core = calibration_number(document, "sharing.one_core_ns");
        double apart = calibration_number(document, "sharing.apart_ns");
        if (isnan(ns))
                return;
        printf("A line that CPU %.0f has modified takes CPU %.0f %.1f ns (%.0f cycles)",
               calibration_number(document, "sharing.writer"),
               calibration_number(document, "sharing.cpu"), ns,
               calibration_number(document, "sharing.modified_cycles"));
        if (!isnan(one_core))
                printf("; on one core %.1f", one_core);
        if (!isnan(apart))
                printf("%s apart %.0f", isnan(one_core) ? ";" : ",", apart);
        puts(".");
}

/* The remark on results of a process that may not use whole CPUs. */
static const char *doubt(const json_t *document)
{
        size_t index;
        json_t *item;
        json_array_foreach(json_object_get(document, "conditions"), index, item)
        {
                if (strcmp(text_of(item, "condition"), "cgroup-cpu-limit") == 0)
                        return " (doubtful: the threads did not have the CPUs to "
                               "themselves, see the notes)";
        }
        return "";
}

static void show_bandwidth(const json_t *document)
{
        const json_t *bandwidth = json_object_get(document, "bandwidth");
        size_t index;
        json_t *point;
        printf("\n%-8s %14s %14s %14s\n", "threads", "read GB/s", "write GB/s",
               "triad GB/s");
        json_array_foreach(json_object_get(bandwidth, "threads"), index, point)
        {
                printf("%-8.0f", calibration_number(point, "threads"));
                print_or_dash(calibration_number(point, "read_gbs"), 14, 1);
                print_or_dash(calibration_number(point, "write_gbs"), 14, 1);
                print_or_dash(calibration_number(point, "triad_gbs"), 14, 1);
                putchar('\n');
        }
        if (json_array_size(json_object_get(bandwidth, "threads")) == 0)
                printf("%-8s %14s %14s %14s\n", "-", "-", "-", "-");
        double saturating = calibration_number(bandwidth, "saturating_threads");
        if (saturating > 0)
                printf("Saturated with %.0f thread%s%s.\n", saturating,
                       saturating == 1 ? "" : "s", doubt(document));
        else if (saturating == 0 &&
                 json_array_size(json_object_get(bandwidth, "threads")) > 1)
                printf("Not saturated: each more thread still adds bandwidth%s.\n",
                       doubt(document));
}

/* Prints a column that only a PMU can provide. */
static void show_counted(const json_t *point, const char *key, double factor)
{
        double value = calibration_number(point, key);
        if (isnan(value))
                printf(" %12s", "-");
        else
                printf(" %12.1f", value * factor);
}

/* Prints the range of eight turns in ten. */
static void show_range(const json_t *point)
{
        char text[32] = "-";
        if (json_object_get(point, "p10_ns"))
                snprintf(text, sizeof(text), "%.0f to %.0f",
                         calibration_number(point, "p10_ns"),
                         calibration_number(point, "p90_ns"));
        printf(" %14s", text);
}

static void show_lmrl(const json_t *loaded)
{
        double idle = calibration_number(loaded, "idle_lmrl_cycles");
        double threshold = calibration_number(loaded, "lmrl_threshold_cycles");
        if (isnan(idle))
                return;
        printf("LMRL of the chase: idle %.1f cycles", idle);
        if (isnan(threshold))
                printf(".\n");
        else
                printf(", where the latency has grown by a quarter %.1f.\n", threshold);
}

static void show_loaded(const json_t *document)
{
        const json_t *loaded = json_object_get(document, "loaded");
        size_t index;
        json_t *point;
        bool counted = json_object_get(loaded, "idle_lmrl_cycles");
        show_lmrl(loaded);
        if (json_array_size(json_object_get(loaded, "curve")) == 0)
                return;
        printf("\n%-8s %14s %14s %14s", "delay", "GB/s", "ns beside it", "8 turns of 10");
        if (counted)
                printf(" %12s %12s %12s %12s", "LMRL cycles", "sampled", "load's LMRL",
                       "FB full %");
        putchar('\n');
        json_array_foreach(json_object_get(loaded, "curve"), index, point)
        {
                printf("%-8.0f %14.2f %14.1f", calibration_number(point, "delay_nops"),
                       calibration_number(point, "gbs"),
                       calibration_number(point, "latency_ns"));
                show_range(point);
                if (counted) {
                        show_counted(point, "lmrl_cycles", 1);
                        show_counted(point, "sampling_latency_cycles", 1);
                        show_counted(point, "load_lmrl_cycles", 1);
                        show_counted(point, "load_fb_full_share", 100);
                }
                putchar('\n');
        }
        double knee = calibration_number(loaded, "knee_gbs");
        if (!json_object_get(loaded, "knee_gbs"))
                printf("Where the latency grows by a quarter is not known, see the "
                       "notes.\n");
        else if (isnan(knee))
                printf("The latency never grew by a quarter: no knee, see the notes.\n");
        else
                printf("The latency has grown by a quarter at %.1f GB/s.\n", knee);
}

/* Prints the bandwidth above which a verdict considers memory contended (doc/method.md).
 */
static void show_limits(const json_t *document)
{
        double half = calibration_number(document, "bandwidth.peak_read_gbs") / 2;
        double knee = calibration_number(document, "loaded.knee_gbs");
        const char *origin;
        double host = host_preset_memory_gbs(document, &origin);
        if (knee < half)
                printf("Verdicts take memory for contended from %.1f GB/s on, where the "
                       "latency has grown by a quarter",
                       knee);
        else if (!isnan(half))
                printf("Verdicts take memory for contended from %.1f GB/s on, half of "
                       "what loads reach",
                       half);
        else
                return;
        if (host_preset_lacks(document, 0))
                puts(".");
        else
                printf(";\nin recordings with '--sim-cpu host' from %.1f on, half of the "
                       "%.1f that its memory has for reads and writes together (%s, as "
                       "it is busy for 97 %% of the time at most).\n",
                       host / 2, host, origin);
}

void calibration_show(const json_t *document)
{
        const json_t *machine = json_object_get(document, "machine");
        size_t index;
        json_t *condition;
        printf("%s, %.0f CPUs%s; measured %s%s\n", text_of(machine, "cpu"),
               calibration_number(machine, "cpus"),
               json_is_true(json_object_get(machine, "virtual")) ? ", virtual" : "",
               text_of(document, "made"),
               json_is_true(json_object_get(document, "quick")) ? " (quick)" : "");
        double worst = calibration_number(document, "noise.worst_error");
        printf("core %.3f GHz, TSC %.3f GHz; worst error",
               calibration_number(document, "clocks.core_ghz"),
               calibration_number(document, "clocks.tsc_ghz"));
        if (isnan(worst))
                printf(" unknown\n");
        else
                printf(" %.1f %%\n", 100 * worst);
        json_array_foreach(json_object_get(document, "conditions"), index, condition)
            printf("note: %s: %s\n", text_of(condition, "condition"),
                   text_of(condition, "meaning"));
        putchar('\n');
        show_levels(document);
        show_tenants(document);
        show_tlb(document);
        show_sharing(document);
        show_bandwidth(document);
        show_loaded(document);
        show_limits(document);
}
