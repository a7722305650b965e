/* SPDX-License-Identifier: MIT */
/* Calls that were left in the middle, and the silence while the program forbids itself
 * something. */
#include "call.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "environment.h"
#include "heap_calls.h"
#include "link.h"
#include "tracker.h"

enum listener heap_listener;

/* Reports calls that were wrongly taken for nested calls since the abandoned call,
 * except the current call. The count includes earlier calls that really were nested. */
static void forget_call(uint32_t untold)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_UNTOLD, untold, 0, 0);
        else
                link_count_untold(untold);
        channel_abandon();
}

__attribute__((cold)) bool call_was_left(void)
{
        bool on_signal_stack;
        if (!calls_on_signal_stack(&on_signal_stack) || on_signal_stack)
                return false;
        forget_call(heap_thread.nested);
        return true;
}

/* A word in another page may be on an unmapped stack; checking it takes a system call.
 * Therefore only the first few calls, and then one in LOOK_EVERY, check it. */
#define LOOK_EVERY 16

static bool is_time_to_look(uint32_t nested)
{
        return (nested & (nested - 1)) == 0 || nested % LOOK_EVERY == 0;
}

/* The kernel compares the lower half. False also if the system call is impossible. */
static bool differs(const void *const *word, const void *expected)
{
        /* Wakes no thread. */
        long result =
            calls_do(SYS_futex, (long)word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0,
                     (long)word, (uint32_t)(uintptr_t)expected);
        return result == -EAGAIN || result == -EFAULT;
}

__attribute__((cold)) bool call_is_overwritten(const void *frame)
{
        const void *const *word = (const void *const *)heap_thread.call + 1;
        bool near = ((uintptr_t)word ^ (uintptr_t)frame) < CALL_PAGE_BYTES;
        bool left = near || (is_time_to_look(heap_thread.nested) &&
                             differs(word, heap_thread.returns));
        if (left)
                forget_call(heap_thread.nested - 1);
        return left;
}

struct tracker_hold tracker_hold(const void *frame)
{
        struct tracker_hold hold = {TRACKER_SILENT, heap_thread.call};
        if (current_listener() != MEMLAG)
                return hold;
        if (!hold.call)
                set_call(frame, ((const void *const *)frame)[1]);
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
