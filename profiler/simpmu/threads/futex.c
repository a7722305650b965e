/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that a futex has woken and that are not back yet. Such a thread is under way
 * before Valgrind lets it run. Its waker still holds the big lock, and the machine may
 * have other work. Until it is back, the other threads meet the gate (gate.c) at the
 * clock of the wake. Otherwise they would run on alone for a whole turn. The same
 * holds for a thread that was about to wait and need not any more. */
#include "tool.h"

#include "pub_tool_threadstate.h"

#include "model/clock_heap.h"
#include "syscalls.h"

/* A thread in a call that waits. */
struct waiting {
        ThreadId tid;
        UWord word; /* its address, until a wake there is counted; or 0 */
        Bool woken; /* a wake that the kernel may not know of was counted for it */
};

static struct waiting *waiting; /* in the order of their calls */
static UInt waiting_count;
static Int woken_count;       /* threads woken and not back yet */
static Int waking_count;      /* threads inside a call that wakes */
static ULong last_wake_clock; /* of the last thread that woke others */

void futex_start(void)
{
        waiting = tool_allocate(VG_N_THREADS * sizeof(*waiting));
}

void futex_forked(void)
{
        woken_count = 0;
        waking_count = 0;
}

ULong futex_wake_clock(void)
{
        return woken_count > 0 ? last_wake_clock : CLOCK_NEVER;
}

/* ---- which calls ---- */

static UWord operation_of(const UWord *arguments)
{
        return arguments[1] & FUTEX_OPERATION_MASK;
}

static Bool call_wakes(UInt number, const UWord *arguments)
{
        UWord operation = operation_of(arguments);

        return number == __NR_futex &&
               (operation == FUTEX_WAKE || operation == FUTEX_WAKE_OP ||
                operation == FUTEX_WAKE_BITSET);
}

static Bool call_waits(UInt number, const UWord *arguments)
{
        UWord operation = operation_of(arguments);

        return number == __NR_futex &&
               (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

/* The call wakes, or moves, threads of its own choice. */
static Bool call_chooses(UInt number, const UWord *arguments)
{
        UWord operation = operation_of(arguments);

        if (number != __NR_futex)
                return False;
        return operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE ||
               (operation == FUTEX_WAKE_BITSET && (UInt)arguments[5] != FUTEX_ALL_BITS);
}

/* ---- who waits ---- */

/* Removes TID from the waiting threads; returns whether it was marked as woken. */
static Bool stop_waiting(ThreadId tid)
{
        Bool woken;
        UInt i = 0;

        while (i < waiting_count && waiting[i].tid != tid)
                i++;
        if (i == waiting_count)
                return False;
        woken = waiting[i].woken;
        for (waiting_count--; i < waiting_count; i++)
                waiting[i] = waiting[i + 1];
        return woken;
}

void futex_forget(ThreadId tid)
{
        (void)stop_waiting(tid);
}

/* Marks at most COUNT threads that were last seen about to wait at WORD; returns their
 * number. */
static UWord mark_woken(UWord word, UWord count)
{
        UWord marked = 0;

        for (UInt i = 0; i < waiting_count && marked < count; i++) {
                if (waiting[i].word != word)
                        continue;
                waiting[i].word = 0;
                waiting[i].woken = True;
                marked++;
        }
        return marked;
}

/* The threads waiting at WORD have no known address any more. */
static void forget_word(UWord word)
{
        for (UInt i = 0; i < waiting_count; i++)
                if (waiting[i].word == word)
                        waiting[i].word = 0;
}

/* Whether a thread has ended its wait, or not yet begun it, and only lacks a
 * processor: other work occupies the machine for some time. No thread lacks one if the
 * woken thread belongs to another process or has ended. */
static Bool any_is_on_its_way(void)
{
        for (UInt i = 0; i < waiting_count; i++)
                if (task_wants_processor(threads_lwp(waiting[i].tid)))
                        return True;
        return False;
}

void futex_look_for_woken(void)
{
        if (!any_is_on_its_way())
                woken_count = 0;
}

/* ---- calls ---- */

Bool futex_before_call(ThreadId tid, UInt number, const UWord *arguments)
{
        if (call_wakes(number, arguments)) {
                /* The woken threads may be back before it is. */
                waking_count++;
                return True;
        }
        if (call_waits(number, arguments)) {
                futex_forget(
                    tid); /* a signal may have come between, and it begins anew */
                waiting[waiting_count++] =
                    (struct waiting){.tid = tid, .word = arguments[0]};
        }
        return False;
}

/* A call has woken COUNT threads. Threads that had begun to wait, unknown to the
 * kernel, will find that they need not wait. */
static void note_wakes(const UWord *arguments, UWord count, ULong clock)
{
        UWord marked = mark_woken(arguments[0], (UInt)arguments[2]);

        waking_count--;
        woken_count += (Int)(marked > count ? marked : count);
        last_wake_clock = clock;
}

/* A woken thread is back. It may be so before its waker, whose call then still has to
 * be counted; the kernel's own wakes, at the end of a thread, are not counted at all. */
static void note_woken(void)
{
        if (woken_count > 0 || waking_count > 0)
                woken_count--;
}

Bool futex_after_call(ThreadId tid, UInt number, const UWord *arguments, SysRes result,
                      ULong clock, ULong *wake_clock)
{
        Bool woken = number == __NR_futex && stop_waiting(tid);

        if (call_chooses(number, arguments))
                forget_word(arguments[0]);
        if (call_waits(number, arguments) && (woken || !sr_isError(result))) {
                *wake_clock = futex_wake_clock();
                note_woken();
                return True;
        }
        if (call_wakes(number, arguments))
                note_wakes(arguments, sr_isError(result) ? 0 : sr_Res(result), clock);
        return False;
}
