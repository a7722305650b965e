/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples where the model's time without stalls goes: executed instructions and wrong
 * predictions by their slots, with a jitter. */
#include "pub_tool_threadstate.h"
#include "tool.h"

#include "model/sampler.h"

static struct sampler sampler; /* of instructions */
static struct sampler time;    /* of slots */
static ULong due;              /* instructions at which a period ends */

void executed_start(void)
{
        const struct simpmu_control *control = ring_control();

        sampler_init(&sampler, control->period_instructions, control->seed);
        sampler_init(&time, control->period_instructions, control->seed);
}

Bool executed_are_sampled(void)
{
        return ring_control()->period_instructions != 0;
}

static void set_limit(void)
{
        tool_hot.executed_limit =
            tool_thread->next_samples > 0 ? tool_hot.instructions : due;
}

void executed_thread_runs(void)
{
        due = tool_hot.instructions + sampler.countdown;
        set_limit();
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

/* Instruction number I of STRETCH has SAMPLES. A timer finds the program behind a jump:
 * it reports the next instruction, and nothing says which one led there. */
static void write_samples(const struct executed_stretch *stretch, UInt i, ULong samples)
{
        if (stretch->leaves && i + 1 == stretch->count)
                tool_thread->next_samples += samples;
        else
                for (; samples > 0; samples--)
                        write_sample(stretch->each[i].ip);
}

static UInt one_of(const struct executed_stretch *stretch)
{
        ULong left = sampler_random(&sampler) % stretch->slots;
        UInt i = 0;

        for (; left >= stretch->each[i].slots; i++)
                left -= stretch->each[i].slots;
        return i;
}

/* The stretch stands for the whole period, and the waits in it. */
static void end_period(const struct executed_stretch *stretch)
{
        const ULong slots =
            sampler.period * stretch->slots / stretch->count + tool_thread->waited;

        tool_thread->waited = 0;
        sampler_rearm(&sampler);
        due = tool_hot.instructions + sampler.countdown;
        for (ULong samples = sampler_passes(&time, slots); samples > 0; samples--)
                write_samples(stretch, one_of(stretch), 1);
}

void executed_sample(const struct executed_stretch *stretch)
{
        const ULong of_first = tool_thread->next_samples;

        tool_thread->next_samples = 0;
        write_samples(stretch, 0, of_first);
        if (tool_hot.instructions > due)
                end_period(stretch);
        set_limit();
}

void executed_wrong(Addr ip, ULong slots)
{
        if (!executed_are_sampled())
                return;
        for (ULong samples = sampler_passes(&time, slots); samples > 0; samples--)
                write_sample(ip);
}

void executed_refill(ULong slots)
{
        if (!executed_are_sampled())
                return;
        tool_thread->next_samples += sampler_passes(&time, slots);
        set_limit();
}
