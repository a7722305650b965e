// SPDX-License-Identifier: GPL-2.0-or-later
/* When an event makes a sample, and the sample's contents. By time: at the script's rate,
 * a timer interrupts the thread and looks at the access it has published. By steps: the
 * thread hands over every access, and one in a period is sampled. */
#include <asm/irq_regs.h>
#include <asm/perf_event.h>
#include <asm/ptrace.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>

#include "scripted_pmu.h"

static u64 ns_to_sample(const struct perf_event *event)
{
        const struct script *script = script_of_current();
        u64 now_ns = ktime_get_ns();
        u64 rate = script ? script_rate(script, event_config(event), now_ns) : 0;

        if (!rate)
                return NSEC_PER_MSEC; /* then look again */
        return max_t(u64, sampling_floor_ns,
                     mul_u64_u64_div_u64(event->hw.sample_period, NSEC_PER_MSEC, rate));
}

static bool threshold_lets_pass(const struct perf_event *event,
                                const struct published_access *access)
{
        u32 latency =
            access->instruction_latency ? access->instruction_latency : access->latency;

        return !event_is_load_latency(event) || latency > event->attr.config1;
}

static bool event_wants(const struct perf_event *event,
                        const struct published_access *access)
{
        union perf_mem_data_src source = {.val = access->data_src};
        bool loads = event_is_load_latency(event);

        if (event_is_ibs(event))
                return ibs_wants(event, access);
        return source.mem_op == (loads ? PERF_MEM_OP_LOAD : PERF_MEM_OP_STORE) &&
               threshold_lets_pass(event, access);
}

static void fill_access(struct perf_event *event, struct perf_sample_data *data,
                        const struct published_access *access)
{
        u64 weight = event->attr.sample_type & PERF_SAMPLE_WEIGHT_TYPE;
        u32 latency = event_is_ibs(event) ? ibs_latency(access) : access->latency;

        data->data_src.val = access->data_src;
        data->weight.full = latency;
        if (weight & PERF_SAMPLE_WEIGHT_STRUCT) {
                data->weight.full = 0;
                data->weight.var1_dw = latency;
                data->weight.var2_w = access->instruction_latency;
        }
        data->sample_flags |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | weight;
}

/* Makes a sample; ACCESS is NULL for events that are not about one. */
static void make_sample(struct perf_event *event, const struct published_access *access,
                        const struct pt_regs *interrupted)
{
        struct pt_regs regs = *interrupted;
        struct perf_sample_data data;

        if (user_mode(&regs) ? event->attr.exclude_user : event->attr.exclude_kernel)
                return;
        event->hw.last_period = event->hw.sample_period;
        perf_sample_data_init(&data, access ? access->addr : 0, event->hw.last_period);
        if (access) {
                fill_access(event, &data, access);
                regs.ip = access->ip;
                journal_sample(event, access);
        }
        if (event->attr.precise_ip)
                regs.flags |= PERF_EFLAGS_EXACT;
        if (kernel_overflow(event, &data, &regs)) {
                journal_throttled();
                event_stop(event, 0); /* perf starts it again at its next tick */
        }
}

void sampling_step(struct perf_event *event, u64 *steps,
                   const struct published_access *access, const struct pt_regs *regs)
{
        if (!event_wants(event, access) || ++*steps < event->hw.sample_period)
                return;
        *steps = 0;
        make_sample(event, access, regs);
}

static void sample_interrupted(struct perf_event *event, const struct pt_regs *regs)
{
        const struct script *script = script_of_current();
        struct published_access access;

        if (!script || !script_rate(script, event_config(event), ktime_get_ns()))
                return;
        if (!event_samples_accesses(event))
                make_sample(event, NULL, regs);
        else if (user_mode((struct pt_regs *)regs) && script_published(script, &access) &&
                 event_wants(event, &access))
                make_sample(event, &access, regs);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
        struct scripted_event *own = container_of(timer, struct scripted_event, timer);
        struct perf_event *event = own->event;
        const struct pt_regs *regs = get_irq_regs();

        if (event->state == PERF_EVENT_STATE_ACTIVE && regs) {
                event_count(event);
                sample_interrupted(event, regs);
        }
        if (event->state != PERF_EVENT_STATE_ACTIVE || event->hw.state & PERF_HES_STOPPED)
                return HRTIMER_NORESTART;
        hrtimer_forward_now(timer, ns_to_ktime(ns_to_sample(event)));
        return HRTIMER_RESTART;
}

void sampling_init(struct scripted_event *own)
{
        hrtimer_init(&own->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
        own->timer.function = on_timer;
}

/* The rest of a period is kept while the event is off its counter. */
void sampling_start(struct perf_event *event)
{
        struct scripted_event *own = event->pmu_private;
        u64 left_ns = own->left_ns ?: ns_to_sample(event);

        own->left_ns = 0;
        hrtimer_start(&own->timer, ns_to_ktime(left_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/* On the CPU that the timer is pinned to: either it is not running, or this is it. */
void sampling_stop(struct perf_event *event)
{
        struct scripted_event *own = event->pmu_private;
        s64 left_ns = ktime_to_ns(hrtimer_get_remaining(&own->timer));

        if (hrtimer_try_to_cancel(&own->timer) == 1 && left_ns > 0)
                own->left_ns = left_ns;
}
