/* SPDX-License-Identifier: MIT */
/* Prints the time and counts of a kernel, and reasons to doubt them. */
#include "bench_show.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* Shorter timings are imprecise. Starting and stopping takes about 0.2 us, a tick of the
 * kernel falls into the timing or not, and threads do not start simultaneously. */
static const double SHORT_SECONDS = 0.001, SHORT_SECONDS_OF_SEVERAL = 0.01;

struct result {
        double ns_per_access;
        double ticks_per_access;
        double gbs;
        double timed_seconds; /* of one timing: a pass if flushed, else all */
        bool is_short;        /* too short for precise results */
};

/* Also fills COUNTS with the counts of one pass. */
static struct result result_of(const struct kernel *kernel,
                               const struct kernel_parameters *parameters,
                               const struct measurement *measurement,
                               struct kernel_counts *counts)
{
        kernel->count(parameters, counts);
        double accesses = (double)counts->accesses * (double)parameters->passes;
        double timed =
            measurement->seconds / (kernel->flush ? (double)parameters->passes : 1);
        return (struct result){
            .timed_seconds = timed,
            .is_short = timed < (parameters->threads > 1 ? SHORT_SECONDS_OF_SEVERAL
                                                         : SHORT_SECONDS),
            .ns_per_access = measurement->seconds * 1e9 / accesses,
            .ticks_per_access = measurement->tsc_ticks / accesses,
            .gbs = (double)counts->bytes * (double)parameters->passes * 1e-9 /
                   measurement->seconds,
        };
}

static void print_doubts(const struct kernel *kernel,
                         const struct measurement *measurement,
                         const struct result *result)
{
        if (measurement->disturbance == INTERRUPTED)
                puts("note: another program had a CPU of these threads meanwhile, which "
                     "counts as the kernel's time");
        else if (measurement->disturbance == SHARED)
                puts("note: other programs, or the hypervisor, used this machine "
                     "meanwhile: they take cache, bandwidth and time");
        if (result->is_short)
                printf("note: %.4g us at a time are too short to be precise: what begins "
                       "and ends a timing, and whatever else has the CPU meanwhile, "
                       "counts as the kernel's; give %s\n",
                       1e6 * result->timed_seconds,
                       kernel->flush ? "a greater --size, as each pass is timed by itself"
                                     : "more --passes, or leave that option out");
}

static void print_places(const char *when, const struct bounce *bounces, size_t count)
{
        printf("a line there and back between neighbouring CPUs %s, in ns:", when);
        for (size_t i = 0; i < count; i++)
                printf(isnan(bounces[i].ns) ? " -" : " %.0f", bounces[i].ns);
        printf("; additions beside the other's, times as long:");
        for (size_t i = 0; i < count; i++)
                printf(isnan(bounces[i].slowdown) ? " -" : " %.2f", bounces[i].slowdown);
        putchar('\n');
}

/* Prints an element of a list, "null" for NAN. */
static void print_item(size_t index, double value, const char *format)
{
        if (index > 0)
                fputs(", ", stdout);
        if (isnan(value))
                fputs("null", stdout);
        else
                printf(format, value);
}

static double trip_ns(const struct bounce *bounce)
{
        return bounce->ns;
}

static double slowdown(const struct bounce *bounce)
{
        return bounce->slowdown;
}

/* Prints VALUE of each pair, before and after. */
static void print_both(const char *key, const struct places_seen *places,
                       double (*value)(const struct bounce *), const char *format)
{
        const struct bounce *both[] = {places->before, places->after};
        static const char *const keys[] = {"before", "after"};
        printf(", \"%s\": {", key);
        for (size_t k = 0; k < 2; k++) {
                printf("%s\"%s\": [", k ? ", " : "", keys[k]);
                for (size_t i = 0; i < places->count; i++)
                        print_item(i, value(&both[k][i]), format);
                putchar(']');
        }
        putchar('}');
}

void bench_print_table(const struct kernel *kernel,
                       const struct kernel_parameters *parameters,
                       const struct measurement *measurement,
                       const struct places_seen *places)
{
        struct kernel_counts counts;
        struct result result = result_of(kernel, parameters, measurement, &counts);
        printf("%s: %u thread%s%s, %llu passes in %.3f s (%.3f s of CPU time)",
               kernel->name, parameters->threads, parameters->threads == 1 ? "" : "s",
               measurement->pinned ? "" : " (more than CPUs, so not pinned)",
               (unsigned long long)parameters->passes, measurement->seconds,
               measurement->cpu_seconds);
        if (kernel->takes & TAKES_SIZE)
                printf(", %llu bytes", (unsigned long long)parameters->size_bytes);
        if (parameters->pages == PAGES_HUGE && measurement->huge_bytes >= 0)
                printf(" (%lld on huge pages)", (long long)measurement->huge_bytes);
        printf("\n%14.3f ns per access of one thread\n%14.3f TSC ticks per access\n",
               result.ns_per_access, result.ticks_per_access);
        if (counts.bytes)
                printf("%14.3f GB/s\n", result.gbs);
        print_doubts(kernel, measurement, &result);
        if (places->before) {
                print_places("before", places->before, places->count);
                print_places("after", places->after, places->count);
        }
}

/* Adds to an object that has members already. */
static void print_count(const char *key, bool known, uint64_t count)
{
        if (known)
                printf(", \"%s\": %llu", key, (unsigned long long)count);
        else
                printf(", \"%s\": null", key);
}

static const char *const disturbances[DISTURBANCES] = {
    [UNDISTURBED] = "no", [SHARED] = "shared", [INTERRUPTED] = "interrupted"};

void bench_print_json(const struct kernel *kernel,
                      const struct kernel_parameters *parameters,
                      const struct measurement *measurement,
                      const struct places_seen *places)
{
        struct kernel_counts counts;
        struct result result = result_of(kernel, parameters, measurement, &counts);
        printf("{\"kernel\": \"%s\", \"threads\": %u, \"pinned\": %s, \"passes\": %llu, "
               "\"size_bytes\": %llu, \"huge_bytes\": %lld, \"seconds\": %.9f, "
               "\"cpu_seconds\": %.9f, "
               "\"timed_seconds\": %.9f, \"short\": %s, \"disturbed\": \"%s\", "
               "\"ns_per_access\": %.6f, \"tsc_ticks_per_access\": %.6f, \"gbs\": %.6f, "
               "\"per_pass\": {\"loads\": %llu, \"stores\": %llu, \"lines_read\": %llu, "
               "\"lines_written\": %llu, \"flops\": %llu",
               kernel->name, parameters->threads, measurement->pinned ? "true" : "false",
               (unsigned long long)parameters->passes,
               (unsigned long long)parameters->size_bytes,
               (long long)measurement->huge_bytes, measurement->seconds,
               measurement->cpu_seconds, result.timed_seconds,
               result.is_short ? "true" : "false", disturbances[measurement->disturbance],
               result.ns_per_access, result.ticks_per_access, result.gbs,
               (unsigned long long)counts.loads, (unsigned long long)counts.stores,
               (unsigned long long)counts.lines_read,
               (unsigned long long)counts.lines_written,
               (unsigned long long)counts.flops);
        bool branches = counts.tells_branches;
        print_count("instructions", counts.instructions > 0, counts.instructions);
        print_count("branches", branches, counts.branches);
        print_count("branches_taken", branches, counts.branches_taken);
        print_count("branches_mispredicted", branches, counts.branches_mispredicted);
        print_count("branches_executed", branches, counts.branches_executed);
        print_count("jumps", branches, counts.jumps);
        putchar('}');
        if (places->before) {
                print_both("round_trips_ns", places, trip_ns, "%.1f");
                print_both("slowdowns", places, slowdown, "%.3f");
        }
        puts("}");
}
