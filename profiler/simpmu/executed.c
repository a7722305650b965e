/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples where the model's time without stalls goes: executed instructions by their
 * number, with a jitter, and wrong predictions by their cost. */
#include "pub_tool_threadstate.h"
#include "tool.h"

#include "model/sampler.h"

/* Slots that an instruction counts for beside wrong predictions. Assumed: programs seldom
 * issue more than half of the width, for reasons that this detail does not model. */
#define INSTRUCTION_SLOTS 2u

static struct sampler sampler; /* of instructions */
static struct sampler wrong;   /* of slots after wrong predictions */

void executed_start(void)
{
        const struct simpmu_control *control = ring_control();

        sampler_init(&sampler, control->period_instructions, control->seed);
        sampler_init(&wrong, control->period_instructions * INSTRUCTION_SLOTS,
                     control->seed);
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

void executed_sample(const struct executed_stretch *stretch)
{
        sampler_rearm(&sampler);
        executed_thread_runs();
        write_sample(stretch->ips[sampler_random(&sampler) % stretch->count]);
}

void executed_wrong(Addr ip, ULong slots)
{
        if (!executed_are_sampled())
                return;
        for (ULong samples = sampler_passes(&wrong, slots); samples > 0; samples--)
                write_sample(ip);
}
