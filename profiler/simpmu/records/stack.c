/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call stacks from Valgrind's unwinder (CFI, else frame pointers). It reads past the
 * outermost function into unrelated words of the stack. The first address outside
 * executable memory ends the stack. */
#include "tool.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_threadstate.h"

/* Leaf functions use that much below the stack pointer (System V ABI, 3.2.2). */
#define RED_ZONE_BYTES 128

/* Frame I reaches up to its CFA, which is the stack pointer after it has returned. */
static void find_frame(const Addr *sps, UInt found, Addr address,
                       struct stack_frame *frame)
{
        *frame = (struct stack_frame){.known = False};
        if (found == 0 || address + RED_ZONE_BYTES < sps[0])
                return;
        for (UInt i = 0; i + 1 < found; i++) {
                if (address < sps[i + 1]) {
                        *frame = (struct stack_frame){True, i, sps[i + 1]};
                        return;
                }
        }
}

UInt stack_callers_and_frame(ThreadId tid, ULong *frames, UInt limit, Addr address,
                             struct stack_frame *frame)
{
        Addr sps[STACK_MAXIMUM_FRAMES];
        Addr ips[STACK_MAXIMUM_FRAMES];
        UInt found;
        UInt kept = 0;
        UInt i = 1; /* ips[0] is the instruction itself */

        *frame = (struct stack_frame){.known = False};
        if (limit == 0)
                return 0;
        if (limit > STACK_MAXIMUM_FRAMES - 1)
                limit = STACK_MAXIMUM_FRAMES - 1;
        found = VG_(get_StackTrace)(tid, ips, limit + 1, sps, NULL, 0);
        find_frame(sps, found, address, frame);
        while (i < found && heap_is_tracker(ips[i]))
                i++;
        for (; i < found && images_executable(ips[i]); i++)
                frames[kept++] = ips[i] + 1; /* the unwinder took 1 off */
        return kept;
}

UInt stack_at_entry(ThreadId tid, ULong *frames, UInt limit)
{
        Addr ips[STACK_MAXIMUM_FRAMES];
        const Addr sp = VG_(get_SP)(tid);
        Addr called_from;
        UInt found, kept = 0;

        if (limit == 0 ||
            !VG_(am_is_valid_for_client)(sp, sizeof(called_from), VKI_PROT_READ))
                return 0;
        called_from = *(const Addr *)sp - 1;
        if (limit > STACK_MAXIMUM_FRAMES)
                limit = STACK_MAXIMUM_FRAMES;
        found = VG_(get_StackTrace_with_deltas)(tid, ips, limit, NULL, NULL,
                                                (Word)(called_from - VG_(get_IP)(tid)),
                                                sizeof(called_from));
        for (; kept < found && images_executable(ips[kept]); kept++)
                frames[kept] = ips[kept] + 1;
        return kept;
}

/* ---- stacks of other threads ---- */

/* A thread that does not run has its registers saved, and its stack stays as it is. */
struct saved_stack {
        Bool known; /* since it ran last */
        UInt found;
        Addr ips[STACK_MAXIMUM_FRAMES];
        Addr sps[STACK_MAXIMUM_FRAMES];
};

static struct saved_stack **saved_stacks; /* by ThreadId; NULL: never asked */

void stack_changes(ThreadId tid)
{
        if (saved_stacks != NULL && saved_stacks[tid] != NULL)
                saved_stacks[tid]->known = False;
}

static const struct saved_stack *saved_stack(ThreadId tid)
{
        struct saved_stack *stack;

        if (saved_stacks == NULL)
                saved_stacks = tool_allocate(VG_N_THREADS * sizeof(*saved_stacks));
        stack = saved_stacks[tid];
        if (stack == NULL)
                stack = saved_stacks[tid] = tool_allocate(sizeof(*stack));
        if (!stack->known)
                stack->found = VG_(get_StackTrace)(tid, stack->ips, STACK_MAXIMUM_FRAMES,
                                                   stack->sps, NULL, 0);
        stack->known = True;
        return stack;
}

/* A thread whose stack pointer is elsewhere, on a signal's stack for instance, has it
 * beyond ADDRESS or its frames do not reach it. */
static Bool may_own(ThreadId tid, Addr address)
{
        return address + RED_ZONE_BYTES >= VG_(get_SP)(tid) &&
               address <= VG_(thread_get_stack_max)(tid);
}

static UInt copy_frames(const struct saved_stack *stack, UInt number, ULong *frames,
                        UInt limit)
{
        UInt kept = 0;

        if (heap_is_tracker(stack->ips[number]))
                return 0;
        for (UInt i = number; i < stack->found && kept < limit; i++, kept++) {
                if (!images_executable(stack->ips[i]))
                        break;
                frames[kept] = stack->ips[i] + (kept > 0 ? 1 : 0);
        }
        return kept;
}

UInt stack_of_other(ThreadId tid, ULong *frames, UInt limit, Addr address, Addr *cfa)
{
        const ThreadId *tids;
        UInt count = threads_alive(&tids);

        for (UInt i = 0; i < count; i++) {
                const struct saved_stack *stack;
                struct stack_frame frame;

                if (tids[i] == tid || !may_own(tids[i], address))
                        continue;
                stack = saved_stack(tids[i]);
                find_frame(stack->sps, stack->found, address, &frame);
                if (!frame.known)
                        continue;
                *cfa = frame.cfa;
                return copy_frames(stack, frame.number, frames, limit);
        }
        return 0;
}

UInt stack_callers(ThreadId tid, ULong *frames, UInt limit)
{
        struct stack_frame frame;

        return stack_callers_and_frame(tid, frames, limit, 0, &frame);
}
