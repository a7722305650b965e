/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call stacks from Valgrind's unwinder (CFI, else frame pointers). It walks past
 * the outermost function into whatever lies on the stack there; the first address
 * that is not in executable memory ends the stack. */
#include "tool.h"

#include "pub_tool_stacktrace.h"

UInt stack_callers(ThreadId tid, ULong *frames, UInt limit)
{
        Addr ips[STACK_MAXIMUM_FRAMES];
        UInt found;
        UInt kept = 0;
        UInt i = 1; /* ips[0] is the instruction itself */

        if (limit == 0)
                return 0;
        if (limit > STACK_MAXIMUM_FRAMES - 1)
                limit = STACK_MAXIMUM_FRAMES - 1;
        found = VG_(get_StackTrace)(tid, ips, limit + 1, NULL, NULL, 0);
        while (i < found && heap_is_tracker(ips[i]))
                i++;
        for (; i < found && images_executable(ips[i]); i++)
                frames[kept++] = ips[i] + 1; /* the unwinder took 1 off */
        return kept;
}
