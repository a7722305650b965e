/* SPDX-License-Identifier: MIT */
/* The source for Intel CPUs: loads that the hardware samples by their latency (PEBS), and
 * counters beside them. Chooses the events; the session does the rest. */
#include "perf/plan/plan_try.h"
#include "source_hardware.h"
#include "source_perf.h"

/* Primes do not resonate with the program's loops. Stores have no latency threshold, and
 * are therefore much more frequent. */
enum { PERIOD_LOADS = 4001, PERIOD_STORES = 200003 };

static void pebs_set_defaults(struct source_options *options)
{
        if (!options->ldlat_cycles)
                options->ldlat_cycles = LDLAT_CYCLES_USUAL;
        if (options->frequency_hz)
                return;
        options->period_stores = options->stores && options->period_loads
                                     ? options->period_loads
                                     : PERIOD_STORES;
        if (!options->period_loads)
                options->period_loads = PERIOD_LOADS;
}

static int pebs_probe(const struct source_options *options, struct diag *diag)
{
        return source_hardware_probe(plan_try_pebs, options, diag);
}

static int pebs_open(const struct source_options *options, struct sink *sink,
                     struct source **source, struct diag *diag)
{
        return source_hardware_open(plan_try_pebs, options, sink, source, diag);
}

const struct source_ops source_pebs = {
    .name = "pebs",
    .numbers = NUMBERS_MEASURED,
    .meaning = "loads sampled by the CPU with their latency and level (PEBS)",
    .latency = true,
    .pages = true,
    .stores = true,
    .set_defaults = pebs_set_defaults,
    .probe = pebs_probe,
    .open = pebs_open,
    .start = source_perf_start,
    .attach = source_perf_attach,
    .poll_fd = source_perf_poll_fd,
    .drain = source_perf_drain,
    .all_ended = source_perf_all_ended,
    .stop = source_perf_stop,
    .close = source_perf_close,
};
