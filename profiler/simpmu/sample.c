/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sampled load becomes a record. */
#include "tool.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"

static UInt sample_flags(const struct sim_sample *sample)
{
        return (sample->translation > TLB_STLB_HIT ? SIMPMU_TLB_MISS : 0) |
               (sample->translation == TLB_STLB_HIT ? SIMPMU_STLB_HIT : 0) |
               (sample->site->locked ? SIMPMU_LOCKED : 0) |
               (sample->unforwarded ? SIMPMU_UNFORWARDED_LOAD : 0) |
               (tool_machine.one_load_waits ? 0 : SIMPMU_RETIRED);
}

static UInt stall_ns(const struct sim_sample *sample)
{
        ULong ns = threads_slots_to_ns(sample->stall_slots);

        return ns < UINT32_MAX ? (UInt)ns : UINT32_MAX;
}

static ULong thread_pointer(ThreadId tid)
{
        ULong value;

        VG_(get_shadow_regs_area)
        (tid, (UChar *)&value, 0, offsetof(VexGuestAMD64State, guest_FS_CONST),
         sizeof(value));
        return value;
}

/* Each page fault is told, up to so many of a process; then each time as many, of four
 * times as many faults. */
#define FAULTS_TOLD 16384u

/* For how many faults the next one of this process is to stand; 0: it is none of those
 * that are told. */
static UInt fault_weight(void)
{
        static struct sampler sampler = {.period = 1, .countdown = 1};
        static UInt told;
        UInt weight = (UInt)sampler.period;

        if (!sampler_counts(&sampler))
                return 0;
        if (++told % FAULTS_TOLD == 0) {
                sampler.period *= 4;
                sampler_rearm(&sampler);
        }
        return weight;
}

void sample_write(const struct sim_sample *sample)
{
        ThreadId tid = VG_(get_running_tid)();
        ULong frames[STACK_MAXIMUM_FRAMES];
        ULong other_frames[STACK_MAXIMUM_FRAMES];
        UInt callers, others = 0;
        struct stack_frame frame;
        struct simpmu_sample *record;
        UInt faults = 0;

        if (!ring_recording())
                return;
        if (sample->kernel_slots > 0 && (faults = fault_weight()) == 0)
                return;
        callers = stack_callers_and_frame(tid, frames, ring_control()->stack_frames,
                                          sample->address, &frame);
        if (!frame.known && ring_control()->stack_frames > 0)
                others = stack_of_other(tid, other_frames, ring_control()->stack_frames,
                                        sample->address, &frame.cfa);
        record = ring_begin(SIMPMU_SAMPLE, sample_flags(sample),
                            threads_slots_to_ns(sample->time_slots), threads_lwp(tid),
                            sizeof(*record) + (callers + 1 + others) * sizeof(frames[0]));
        if (record == NULL)
                return;
        record->ip = sample->site->ip;
        record->addr = sample->address;
        record->stall_ns = stall_ns(sample);
        record->latency_cycles =
            (UInt)(sample->latency_slots / tool_machine.slots_per_cycle);
        /* The nearest: these are summed up. */
        record->retire_latency_cycles =
            (UInt)((sample->retire_slots + tool_machine.slots_per_cycle / 2) /
                   tool_machine.slots_per_cycle);
        record->level = (UShort)sample->level;
        record->faults = faults;
        record->page_bytes = sample->page_bytes;
        record->few_sets = sample->few_sets;
        record->reserved = 0;
        record->kernel_cycles =
            faults * sample->kernel_slots / tool_machine.slots_per_cycle;
        record->cpu = (UShort)tool_thread->core->number;
        record->depth = (UShort)(callers + 1);
        record->other_depth = (UShort)others;
        record->stack_frame =
            frame.known && frame.number <= callers ? frame.number + 1 : 0;
        record->frame_cfa = frame.cfa;
        record->thread_pointer = thread_pointer(tid);
        record->frames[0] = sample->site->ip;
        for (UInt i = 0; i < callers; i++)
                record->frames[i + 1] = frames[i];
        for (UInt i = 0; i < others; i++)
                record->frames[callers + 1 + i] = other_frames[i];
        ring_publish(record);
}
