/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples executed instructions: one in a mean number of them, with a jitter, whatever
 * they wait for. Together with the stalls of accesses they tell where the model's time
 * goes. */
#include "pub_tool_threadstate.h"
#include "tool.h"

#include "model/sampler.h"

static struct sampler sampler;

void executed_start(void)
{
        const struct simpmu_control *control = ring_control();

        sampler_init(&sampler, control->period_instructions, control->seed);
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

void executed_sample(const struct executed_stretch *stretch)
{
        ThreadId tid = VG_(get_running_tid)();
        struct simpmu_executed *record = NULL;

        sampler_rearm(&sampler);
        executed_thread_runs();
        if (ring_recording())
                record = ring_begin(SIMPMU_EXECUTED, 0, threads_now_ns(),
                                    threads_lwp(tid), sizeof(*record));
        if (record == NULL)
                return;
        record->ip = stretch->ips[sampler_random(&sampler) % stretch->count];
        ring_publish(record);
}
