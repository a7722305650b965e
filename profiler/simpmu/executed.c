/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples where the model's time without stalls goes: executed instructions and wrong
 * predictions by their slots, with a jitter. */
#include "pub_tool_threadstate.h"
#include "tool.h"

#include "model/sampler.h"

static struct sampler sampler; /* of instructions */
static struct sampler time;    /* of slots */

void executed_start(void)
{
        const struct simpmu_control *control = ring_control();

        sampler_init(&sampler, control->period_instructions, control->seed);
        sampler_init(&time, control->period_instructions, control->seed);
        executed_thread_runs();
}

Bool executed_are_sampled(void)
{
        return ring_control()->period_instructions != 0;
}

void executed_thread_runs(void)
{
        tool_hot.executed_limit = tool_hot.instructions + sampler.countdown;
}

static void write_sample(Addr ip)
{
        ThreadId tid = VG_(get_running_tid)();
        struct simpmu_executed *record = NULL;

        if (ring_recording())
                record = ring_begin(SIMPMU_EXECUTED, 0, threads_now_ns(),
                                    threads_lwp(tid), sizeof(*record));
        if (record == NULL)
                return;
        record->ip = ip;
        ring_publish(record);
}

static Addr one_of(const struct executed_stretch *stretch)
{
        ULong left = sampler_random(&sampler) % stretch->slots;
        const struct executed *each = stretch->each;

        for (; left >= each->slots; each++)
                left -= each->slots;
        return each->ip;
}

/* The stretch stands for the whole period, and the waits in it. */
void executed_sample(const struct executed_stretch *stretch)
{
        const ULong slots =
            sampler.period * stretch->slots / stretch->count + tool_thread->waited;

        tool_thread->waited = 0;
        sampler_rearm(&sampler);
        executed_thread_runs();
        for (ULong samples = sampler_passes(&time, slots); samples > 0; samples--)
                write_sample(one_of(stretch));
}

void executed_wrong(Addr ip, ULong slots)
{
        if (!executed_are_sampled())
                return;
        for (ULong samples = sampler_passes(&time, slots); samples > 0; samples--)
                write_sample(ip);
}
