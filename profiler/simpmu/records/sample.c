/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sampled load or store becomes a record. */
#include "tool.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"

static UInt sample_flags(const struct sim_sample *sample)
{
        return (sample->translation > TLB_STLB_HIT ? SIMPMU_TLB_MISS : 0) |
               (sample->translation == TLB_STLB_HIT ? SIMPMU_STLB_HIT : 0) |
               (sample->site->locked ? SIMPMU_LOCKED : 0) |
               (sample->unforwarded ? SIMPMU_UNFORWARDED_LOAD : 0) |
               (sample->aliased ? SIMPMU_ALIASED_LOAD : 0) |
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

/* Each page fault of a process gets a record, up to this number of records. Then the
 * weight of a record grows fourfold, and again after as many records. */
#define FAULTS_TOLD 16384u

/* The number of faults that the next record of this process stands for; 0: the next
 * fault is not recorded. */
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

/* The callers of a sample's instruction, and the position of its address on a stack. */
struct context {
        ULong frames[STACK_MAXIMUM_FRAMES];
        ULong other_frames[STACK_MAXIMUM_FRAMES];
        UInt callers;
        UInt others;
        struct stack_frame frame;
};

static void find_context(ThreadId tid, const struct sim_sample *sample,
                         struct context *context)
{
        UInt limit = ring_control()->stack_frames;

        context->others = 0;
        context->callers = stack_callers_and_frame(tid, context->frames, limit,
                                                   sample->address, &context->frame);
        if (!context->frame.known && limit > 0)
                context->others = stack_of_other(tid, context->other_frames, limit,
                                                 sample->address, &context->frame.cfa);
}

static SizeT record_bytes(const struct context *context)
{
        return sizeof(struct simpmu_sample) +
               (context->callers + 1 + context->others) * sizeof(context->frames[0]);
}

/* Rounds to the nearest, because the values are summed up. */
static UInt retire_cycles(ULong slots)
{
        return (UInt)((slots + tool_machine.slots_per_cycle / 2) /
                      tool_machine.slots_per_cycle);
}

/* All of RECORD but its header; it stands for FAULTS page faults, or for an access. */
static void fill(struct simpmu_sample *record, ThreadId tid,
                 const struct sim_sample *sample, const struct context *context,
                 UInt faults)
{
        const struct stack_frame *frame = &context->frame;

        record->ip = sample->site->ip;
        record->addr = sample->address;
        record->stall_ns = stall_ns(sample);
        record->latency_cycles =
            (UInt)(sample->latency_slots / tool_machine.slots_per_cycle);
        record->retire_latency_cycles = retire_cycles(sample->retire_slots);
        record->level = (UShort)sample->level;
        record->faults = faults;
        record->page_bytes = sample->page_bytes;
        record->few_sets = sample->few_sets;
        record->watch = sample->watch;
        record->kernel_cycles =
            faults * sample->kernel_slots / tool_machine.slots_per_cycle;
        record->cpu = (UShort)threads_core(tid)->number;
        record->depth = (UShort)(context->callers + 1);
        record->other_depth = (UShort)context->others;
        record->stack_frame =
            frame->known && frame->number <= context->callers ? frame->number + 1 : 0;
        record->frame_cfa = frame->cfa;
        record->thread_pointer = thread_pointer(tid);
        record->frames[0] = sample->site->ip;
        for (UInt i = 0; i < context->callers; i++)
                record->frames[i + 1] = context->frames[i];
        for (UInt i = 0; i < context->others; i++)
                record->frames[context->callers + 1 + i] = context->other_frames[i];
}

void sample_write(const struct sim_sample *sample)
{
        ThreadId tid = VG_(get_running_tid)();
        struct context context;
        struct simpmu_sample *record;
        UInt faults = 0;

        if (!ring_recording())
                return;
        threads_note_counters(tid);
        if (sample->kernel_slots > 0 && (faults = fault_weight()) == 0)
                return;
        find_context(tid, sample, &context);
        record = ring_begin(SIMPMU_SAMPLE, sample_flags(sample),
                            threads_slots_to_ns(sample->time_slots), threads_lwp(tid),
                            record_bytes(&context));
        if (record == NULL)
                return;
        fill(record, tid, sample, &context, faults);
        ring_publish(record);
}

/* ---- stores: their cost is known when they have left the store buffer ---- */

struct begun_store {
        struct begun_store *next_spare;
        ULong time_ns;
        struct simpmu_sample record; /* and its frames */
};

static struct begun_store *spare_stores;

static struct begun_store *store_new(void)
{
        struct begun_store *store = spare_stores;

        if (store == NULL)
                return tool_allocate(sizeof(*store) +
                                     (2 * STACK_MAXIMUM_FRAMES + 1) * sizeof(ULong));
        spare_stores = store->next_spare;
        return store;
}

void *sample_store_begin(const struct sim_sample *sample)
{
        ThreadId tid = VG_(get_running_tid)();
        struct context context;
        struct begun_store *store;

        if (!ring_recording())
                return NULL;
        threads_note_counters(tid);
        find_context(tid, sample, &context);
        store = store_new();
        store->time_ns = threads_slots_to_ns(sample->time_slots);
        store->record.header = (struct simpmu_record){
            .size_bytes = (UInt)record_bytes(&context),
            .flags = (UShort)(sample_flags(sample) | SIMPMU_STORE),
            .tid = threads_lwp(tid),
        };
        fill(&store->record, tid, sample, &context, 0);
        return store;
}

void sample_store_end(void *sample, uint64_t retire_slots)
{
        struct begun_store *store = sample;
        const struct simpmu_record *header = &store->record.header;
        struct simpmu_record *record =
            ring_begin(SIMPMU_SAMPLE, header->flags, store->time_ns, header->tid,
                       header->size_bytes);

        store->record.retire_latency_cycles = retire_cycles(retire_slots);
        if (record != NULL) {
                VG_(memcpy)(record + 1, header + 1, header->size_bytes - sizeof(*header));
                ring_publish(record);
        }
        store->next_spare = spare_stores;
        spare_stores = store;
}

void sample_line(uint32_t watch, enum line_fact fact, uint64_t value)
{
        struct simpmu_line *record =
            ring_begin(SIMPMU_LINE, fact == LINE_USED ? SIMPMU_LINE_USED : 0,
                       ring_now_ns(), 0, sizeof(*record));

        if (record == NULL)
                return;
        record->watch = watch;
        record->value = value;
        ring_publish(record);
}
