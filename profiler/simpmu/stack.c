/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call stacks from Valgrind's unwinder (CFI, else frame pointers). It walks past
 * the outermost function into whatever lies on the stack there; the first address
 * that is not in executable memory ends the stack. */
#include "tool.h"

#include "pub_tool_stacktrace.h"

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

UInt stack_callers(ThreadId tid, ULong *frames, UInt limit)
{
        struct stack_frame frame;

        return stack_callers_and_frame(tid, frames, limit, 0, &frame);
}
