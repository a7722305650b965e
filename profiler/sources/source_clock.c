/* SPDX-License-Identifier: MIT */
/* The source for any machine, virtual or not: a timer on each CPU samples where the
 * program is, and so where it waits. Knows neither latencies nor levels. */
#include <asm/perf_regs.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db.h"
#include "source_perf.h"
#include "step_back.h"

#define NS_A_SECOND  UINT64_C(1000000000)
#define FREQUENCY_HZ 4000 /* unless the user sets it */
#define STACK_BYTES  8192 /* that a sample copies for unwinding */

/* The registers that addresses are made of. */
#define REGISTERS                                                                        \
        (((UINT64_C(1) << (PERF_REG_X86_IP + 1)) - 1) | UINT64_C(0xff) << PERF_REG_X86_R8)

/* Context for amending samples: the timer reports the instruction after the instruction
 * that waited. */
struct clock {
        struct step_back *step_back;
        struct sink *sink;
        int64_t period_ns;
};

/* ---- samples ---- */

static const struct data_source_row some_load = {
    .op = "load", .level = "NA", .tlb = "NA", .snoop = "NA"};
/* A store that waits for a free store buffer entry. */
static const struct data_source_row some_store = {
    .op = "store", .level = "NA", .tlb = "NA", .snoop = "NA"};

static bool read_register(const void *context, unsigned number, uint64_t *value)
{
        return record_register(context, number, value);
}

static int step_back_sample(void *context, uint32_t pid,
                            const struct record_sample *sample,
                            struct event_sample *event, struct diag *diag)
{
        const struct clock *clock = context;
        uint64_t waited_ip;
        const struct instruction *waited =
            step_back_from(clock->step_back, event->image, pid, event->ip, &waited_ip);
        event->has_addr = false;
        if (!waited)
                return sink_loss(clock->sink, "timer samples on unknown instructions", 1,
                                 "samples", diag);
        if (waited->nop) /* padding before the target of a jump, mostly */
                return 0;
        event->ip = waited_ip;
        if (!waited->loads && !waited->stores)
                return 0;
        event->data_source = waited->loads ? &some_load : &some_store;
        event->stall_ns = clock->period_ns;
        event->has_addr = sample->user_regs.abi == PERF_SAMPLE_REGS_ABI_64 &&
                          instruction_address(waited, waited_ip, read_register,
                                              &sample->user_regs, &event->addr);
        return 0;
}

static void clock_free(void *context)
{
        struct clock *clock = context;
        if (clock)
                step_back_free(clock->step_back);
        free(clock);
}

/* ---- the source ---- */

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

/* Only on request: without frame pointers such a stack is wrong, and a copy of the stack
 * is large. */
static void add_call_graph(struct perf_event_attr *attr, enum call_graph mode)
{
        if (mode == CALL_GRAPH_FRAME_POINTERS) {
                attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
                attr->exclude_callchain_kernel = 1;
        } else if (mode == CALL_GRAPH_DWARF) {
                attr->sample_type |= PERF_SAMPLE_STACK_USER;
                attr->sample_stack_user = STACK_BYTES;
        }
}

static int make_plan(const struct source_options *options, struct plan *plan,
                     struct diag *diag)
{
        struct plan_group *group = plan_add_group(plan);
        if (!group)
                return diag_no_memory(diag);
        group->count = 1;
        group->events[0] = (struct plan_event){
            .use = PLAN_LOADS,
            .name = "cpu-clock",
            .attr = {.type = PERF_TYPE_SOFTWARE,
                     .config = PERF_COUNT_SW_CPU_CLOCK,
                     .sample_period = NS_A_SECOND / options->frequency_hz,
                     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                    PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER,
                     .sample_regs_user = REGISTERS,
                     .exclude_kernel = 1,
                     .exclude_hv = 1}};
        add_call_graph(&group->events[0].attr, options->call_graph);
        return 0;
}

static struct clock *clock_new(const struct source_options *options, struct sink *sink)
{
        struct clock *clock = calloc(1, sizeof(*clock));
        if (!clock)
                return NULL;
        clock->sink = sink;
        clock->period_ns = (int64_t)(NS_A_SECOND / options->frequency_hz);
        clock->step_back = step_back_new(sink);
        if (clock->step_back)
                return clock;
        clock_free(clock);
        return NULL;
}

static int clock_open(const struct source_options *options, struct sink *sink,
                      struct source **source, struct diag *diag)
{
        struct source_perf_setup setup = {
            .amend = step_back_sample,
            .context = clock_new(options, sink),
            .free_context = clock_free,
        };
        int rc =
            setup.context ? make_plan(options, &setup.plan, diag) : diag_no_memory(diag);
        if (rc == 0)
                return source_perf_open(options, sink, &setup, source, diag);
        clock_free(setup.context);
        plan_free(&setup.plan);
        return rc;
}

const struct source_ops source_clock = {
    .name = "clock",
    .numbers = NUMBERS_MEASURED,
    .meaning =
        "timer samples; measured time at loads and stores, without latencies and levels",
    .only_on_request = true,
    .set_defaults = clock_set_defaults,
    .probe = clock_probe,
    .open = clock_open,
    .start = source_perf_start,
    .attach = source_perf_attach,
    .poll_fd = source_perf_poll_fd,
    .drain = source_perf_drain,
    .all_ended = source_perf_all_ended,
    .stop = source_perf_stop,
    .close = source_perf_close,
};
