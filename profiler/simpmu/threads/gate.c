/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gate stops a thread that is ahead of the slowest runnable thread by more than a
 * window. A waiting thread releases the big lock. The thread that lets the slowest
 * thread continue wakes it. futex.c reports threads that a futex has woken. */
#include "tool.h"

#include "model/clock_heap.h"

#include "pub_tool_threadstate.h"

#include "compat/big_lock.h"
#include "syscalls.h"

/* How far ahead of the others a thread may run. Memory's latency is the same for
 * all threads of a stretch of time (dram.h), so this need not be short. */
#define WINDOW_CYCLES 10000u
/* The wait at the gate is woken by other threads; the time-out is for a thread that
 * has to notice that the process is exiting. Where many wait each looks more seldom. */
#define WAIT_NS 5000000
#define CROWD   32
/* The number of time-outs before the gate checks whether woken threads are still to
 * come. */
#define WAKE_PATIENCE 4

static ULong window_slots;
static struct clock_heap ready;   /* the runnable threads but the running one */
static struct clock_heap at_gate; /* threads that wait at the gate */
static UInt at_gate_count;        /* and threads that have been woken there */
static UInt *let_through;         /* by ThreadId, futexes: 1 once the thread may go on */

static void heap_init(struct clock_heap *heap)
{
        clock_heap_init(heap, tool_allocate(VG_N_THREADS * sizeof(*heap->entries)),
                        tool_allocate(VG_N_THREADS * sizeof(*heap->places)),
                        VG_N_THREADS);
}

void gate_start(void)
{
        window_slots = WINDOW_CYCLES * tool_machine.slots_per_cycle;
        heap_init(&ready);
        heap_init(&at_gate);
        let_through = tool_allocate(VG_N_THREADS * sizeof(*let_through));
}

void gate_forked(void)
{
        at_gate_count = 0;
}

ULong gate_window_slots(void)
{
        return window_slots;
}

void gate_put(ThreadId tid, ULong clock)
{
        clock_heap_put(&ready, tid, clock);
}

void gate_take(ThreadId tid)
{
        clock_heap_remove(&ready, tid);
}

void gate_forget(ThreadId tid)
{
        clock_heap_remove(&ready, tid);
        clock_heap_remove(&at_gate, tid);
}

/* CLOCK, or the running thread's if that can run, is slower and is not TID. */
static ULong slower_of_running(ULong clock, ThreadId tid)
{
        ULong here = threads_running_clock_but(tid);

        return here < clock ? here : clock;
}

/* The gate when the slowest thread that counts is at SLOWEST; CLOCK_NEVER: none is. */
static ULong gate_at(ULong slowest)
{
        ULong woken = futex_wake_clock();

        if (woken < slowest)
                slowest = woken;
        return slowest == CLOCK_NEVER ? slowest : slowest + window_slots;
}

void gate_expect(ULong clock)
{
        ULong slowest = clock_heap_slowest(&ready);
        ULong middle = (slowest < clock ? slowest : clock) + window_slots / 2;

        for (UInt i = 0; i < ready.count; i++)
                if (ready.entries[i].clock < middle)
                        machine_expect(&tool_machine, threads_core(ready.entries[i].id));
}

ULong gate_clock(ThreadId tid)
{
        return gate_at(slower_of_running(clock_heap_slowest_but(&ready, tid), tid));
}

Bool gate_is_open(ThreadId tid)
{
        return threads_clock(tid) < gate_clock(tid);
}

/* Each thread at the gate compares with the slowest of all threads instead of the
 * slowest other thread. They differ only for the slowest thread itself, and it may
 * continue. */
void gate_wake(void)
{
        ULong gate =
            gate_at(slower_of_running(clock_heap_slowest(&ready), VG_INVALID_THREADID));

        while (clock_heap_slowest(&at_gate) < gate) {
                ThreadId tid = at_gate.entries[0].id;
                clock_heap_remove(&at_gate, tid);
                __atomic_store_n(&let_through[tid], 1, __ATOMIC_RELEASE);
                futex_wake_private(&let_through[tid]);
        }
}

void gate_wait(ThreadId tid)
{
        Int timeouts = 0;

        while (!gate_is_open(tid) && !VG_(is_exiting)(tid)) {
                long result, wait_ns;

                gate_wake();
                __atomic_store_n(&let_through[tid], 0, __ATOMIC_RELEASE);
                clock_heap_put(&at_gate, tid, threads_clock(tid));
                wait_ns = WAIT_NS * (1 + at_gate_count++ / CROWD);
                VG_(release_BigLock)(tid, STATE_YIELDING, "simpmu gate");
                result = futex_wait_private(&let_through[tid], 0, wait_ns);
                VG_(acquire_BigLock)(tid, "simpmu gate");
                clock_heap_remove(&at_gate, tid);
                at_gate_count--;
                if (result == TIMED_OUT && ++timeouts % WAKE_PATIENCE == 0)
                        futex_look_for_woken();
        }
}
