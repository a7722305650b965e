/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heap tracker inside the target sends client requests (heap/event.h). Its blocks
 * become records with the model's time and Valgrind's stack. The tracker's code stays
 * out of the model and out of stacks. */
#include "tool.h"

#include "pub_tool_threadstate.h"
#include "pub_tool_transtab.h"
#include "valgrind.h"

#include "../../heap/event.h"
#include "address_map.h"
#include "instrument/own_heap.h"

static Addr tracker_start;
static SizeT tracker_length;

Bool heap_is_tracker(Addr ip)
{
        return ip - tracker_start < tracker_length;
}

void heap_followed(ThreadId tid)
{
        struct simpmu_record *record = ring_begin(SIMPMU_TRACKER, 0, threads_now_ns(),
                                                  threads_lwp(tid), sizeof(*record));

        if (record != NULL)
                ring_publish(record);
}

static void set_tracker(ThreadId tid, Addr start, SizeT length)
{
        tracker_start = start;
        tracker_length = length;
        VG_(discard_translations_safely)(start, length, "simpmu heap tracker");
        heap_followed(tid);
}

UInt heap_frames(void)
{
        const UInt recorded = ring_control()->stack_frames;

        return recorded > address_map_frames() ? recorded : address_map_frames();
}

void heap_block_begins(ThreadId tid, UInt function, Addr addr, SizeT size,
                       const ULong *frames, UInt depth)
{
        struct simpmu_alloc *record;

        address_map_block_begins(addr, size, frames, depth);
        record = ring_begin(SIMPMU_ALLOC, 0, threads_now_ns(), threads_lwp(tid),
                            sizeof(*record) + depth * sizeof(frames[0]));
        if (record == NULL)
                return;
        record->addr = addr;
        record->size_bytes = size;
        record->function = function;
        record->depth = depth;
        for (UInt i = 0; i < depth; i++)
                record->frames[i] = frames[i];
        ring_publish(record);
}

/* Of the tracker's thread TID. */
static void block_begins(ThreadId tid, UInt function, Addr addr, SizeT size)
{
        ULong frames[STACK_MAXIMUM_FRAMES];
        UInt depth;

        if (!ring_recording() || function >= HEAP_FUNCTION_COUNT || own_heap_calls(tid))
                return;
        depth = stack_callers(tid, frames, heap_frames());
        heap_block_begins(tid, function, addr, size, frames, depth);
}

void heap_block_changes(ThreadId tid, enum simpmu_record_type type, Addr addr)
{
        if (type == SIMPMU_RESIZE)
                address_map_block_resizes(addr, tid);
        else if (type == SIMPMU_RESIZED)
                address_map_block_resized(addr, tid);
        else
                address_map_block_ends(addr);
        struct simpmu_free *record =
            ring_begin(type, 0, threads_now_ns(), threads_lwp(tid), sizeof(*record));

        if (record == NULL)
                return;
        record->addr = addr;
        ring_publish(record);
}

/* Of the tracker's thread TID. */
static void block_changes(ThreadId tid, enum simpmu_record_type type, Addr addr)
{
        if (!own_heap_calls(tid))
                heap_block_changes(tid, type, addr);
}

static Bool on_request(ThreadId tid, UWord *arguments, UWord *result)
{
        if (!VG_IS_TOOL_USERREQ('M', 'L', arguments[0]))
                return False;
        *result = 1;
        switch (arguments[0] - VG_USERREQ_TOOL_BASE('M', 'L')) {
        case HEAP_REQUEST_TRACKER:
                set_tracker(tid, arguments[1], arguments[2]);
                *result = !ring_recording() || ring_control()->no_heap == 0;
                return True;
        case HEAP_REQUEST_ALLOC:
                block_begins(tid, (UInt)arguments[1], arguments[2], arguments[3]);
                return True;
        case HEAP_REQUEST_FREE:
                block_changes(tid, SIMPMU_FREE, arguments[1]);
                return True;
        case HEAP_REQUEST_RESIZE:
                block_changes(tid, SIMPMU_RESIZE, arguments[1]);
                return True;
        case HEAP_REQUEST_UNTOLD:
                ring_count_untold((UInt)arguments[1]);
                return True;
        case HEAP_REQUEST_RESIZED:
                block_changes(tid, SIMPMU_RESIZED, arguments[1]);
                return True;
        default:
                *result = 0;
                return False;
        }
}

void heap_register(void)
{
        VG_(needs_client_requests)(on_request);
}
