/* SPDX-License-Identifier: MIT */
/* The source for AMD CPUs: operations sampled by the hardware (IBS op). Sampled loads
 * that missed L1 have a latency. Chooses the events; the session does the rest. */
#include "perf/plan/plan_try.h"
#include "source_hardware.h"
#include "source_perf.h"

/* Operations between two samples; some 15000 samples a second of a busy core. A multiple
 * of 16, as the hardware requires; the hardware randomises the period. */
enum { PERIOD_OPERATIONS = 250000 };

static void ibs_set_defaults(struct source_options *options)
{
        if (!options->frequency_hz && !options->period_loads)
                options->period_loads = PERIOD_OPERATIONS;
}

static int ibs_probe(const struct source_options *options, struct diag *diag)
{
        return source_hardware_probe(plan_try_ibs, options, diag);
}

static int ibs_open(const struct source_options *options, struct sink *sink,
                    struct source **source, struct diag *diag)
{
        return source_hardware_open(plan_try_ibs, options, sink, source, diag);
}

const struct source_ops source_ibs = {
    .name = "ibs",
    .numbers = NUMBERS_MEASURED,
    .meaning = "operations sampled by the CPU (IBS); loads that missed L1 have a latency",
    .latency = true,
    .pages = true,
    .set_defaults = ibs_set_defaults,
    .probe = ibs_probe,
    .open = ibs_open,
    .start = source_perf_start,
    .attach = source_perf_attach,
    .poll_fd = source_perf_poll_fd,
    .drain = source_perf_drain,
    .all_ended = source_perf_all_ended,
    .stop = source_perf_stop,
    .close = source_perf_close,
};
