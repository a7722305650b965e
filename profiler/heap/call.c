/* SPDX-License-Identifier: MIT */
/* Calls that were left in the middle, and the silence while the program forbids itself
 * something. */
#include "call.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "calls.h"
#include "environment.h"
#include "link.h"
#include "tracker.h"

enum listener heap_listener;

__attribute__((cold)) bool call_was_left(void)
{
        bool on_signal_stack;
        if (!calls_on_signal_stack(&on_signal_stack) || on_signal_stack)
                return false;
        channel_abandon();
        return true;
}

/* The frame may have been on a stack that is gone, so that the kernel compares, half of
 * the address. */
__attribute__((cold)) bool call_is_overwritten(void)
{
        const void *const *word = (const void *const *)heap_thread.call + 1;
        uint32_t expected = (uint32_t)(uintptr_t)heap_thread.returns;
        /* Wakes nobody. */
        long result =
            calls_do(SYS_futex, (long)word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0,
                     (long)word, expected);
        bool left = result == -EAGAIN || result == -EFAULT;
        if (left)
                channel_abandon();
        return left;
}

struct tracker_hold tracker_hold(const void *frame)
{
        struct tracker_hold hold = {TRACKER_SILENT, heap_thread.call};
        if (current_listener() != MEMLAG)
                return hold;
        if (!hold.call) {
                heap_thread.call = frame;
                heap_thread.returns = ((const void *const *)frame)[1];
                heap_thread.nested = 0;
        }
        hold.kind = channel_is_borrowed() ? TRACKER_BORROWED : TRACKER_HELD;
        if (hold.kind == TRACKER_HELD)
                calls_hold();
        return hold;
}

void tracker_settle(struct tracker_hold hold, bool forbidden)
{
        if (hold.kind == TRACKER_SILENT)
                return;
        if (forbidden)
                environment_unfollow();
        if (hold.kind == TRACKER_BORROWED && forbidden) {
                link_note_cut_off();
        } else if (hold.kind == TRACKER_HELD && forbidden) {
                __atomic_store_n(&heap_listener, NOBODY, __ATOMIC_RELAXED);
                channel_close();
        } else if (hold.kind == TRACKER_HELD) {
                calls_resume();
        }
        heap_thread.call = hold.call;
}
