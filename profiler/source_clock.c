/* SPDX-License-Identifier: MIT */
/* The source for any machine, virtual or not: a timer on each CPU samples where the
 * program is, and so where it waits. Knows neither latencies nor levels. */
#include <errno.h>
#include <string.h>

#include "source_perf.h"

#define NS_A_SECOND  UINT64_C(1000000000)
#define FREQUENCY_HZ 4000

static void clock_set_defaults(struct source_options *options)
{
        if (!options->frequency_hz)
                options->frequency_hz = FREQUENCY_HZ;
}

static int clock_probe(const struct source_options *options, struct diag *diag)
{
        if (options->period_loads)
                return diag_set(diag, -EINVAL,
                                "source clock samples by time, not by loads; use --freq "
                                "instead of --period");
        return 0;
}

static int make_plan(const struct source_options *options, struct plan *plan,
                     struct diag *diag)
{
        struct plan_group *group = plan_add_group(plan);
        if (!group)
                return diag_set(diag, -ENOMEM, "out of memory");
        group->count = 1;
        group->events[0] = (struct plan_event){
            .use = PLAN_LOADS,
            .name = "cpu-clock",
            .attr = {.type = PERF_TYPE_SOFTWARE,
                     .config = PERF_COUNT_SW_CPU_CLOCK,
                     .sample_period = NS_A_SECOND / options->frequency_hz,
                     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                    PERF_SAMPLE_CPU,
                     .exclude_kernel = 1,
                     .exclude_hv = 1}};
        return 0;
}

static int clock_open(const struct source_options *options, struct sink *sink,
                      struct source **source, struct diag *diag)
{
        struct source_perf_setup setup = {.instruction_latency = false};
        int rc = make_plan(options, &setup.plan, diag);
        return rc == 0 ? source_perf_open(options, sink, &setup, source, diag) : rc;
}

const struct source_ops source_clock = {
    .name = "clock",
    .numbers = NUMBERS_MEASURED,
    .meaning = "timer samples; where time was spent waiting, without latencies",
    .only_on_request = true,
    .set_defaults = clock_set_defaults,
    .probe = clock_probe,
    .open = clock_open,
    .start = source_perf_start,
    .attach = source_perf_attach,
    .poll_fd = source_perf_poll_fd,
    .drain = source_perf_drain,
    .stop = source_perf_stop,
    .close = source_perf_close,
};
