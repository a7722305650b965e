/* SPDX-License-Identifier: MIT */
/* System calls in a foreign program. */
#include "heap_calls.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "heap_thread.h"

/* Interval and maximum number of waits for threads in a system call. The wait is
 * bounded, because an abandoned system call never finishes. */
#define HOLD_NS    100000
#define HOLD_TURNS 10000

static int32_t
    *under_way;        /* atomic: system calls that threads are in; NULL: not counted */
static uint32_t holds; /* atomic: while there are any, no system call begins */

void calls_count_in(int32_t *count)
{
        under_way = count;
}

/* With the kernel's own result: a negative errno value when it fails. */
static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
        register long r10 __asm__("r10") = d;
        register long r8 __asm__("r8") = e;
        register long r9 __asm__("r9") = f;
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
        return result;
}

/* Increments first and checks afterwards: either calls_hold sees this call, or this call
 * sees the hold. */
static bool begin_call(void)
{
        __atomic_fetch_add(under_way, 1, __ATOMIC_SEQ_CST);
        heap_thread.calls++;
        signal_fence();
        return __atomic_load_n(&holds, __ATOMIC_SEQ_CST) == 0;
}

static void end_call(void)
{
        signal_fence();
        heap_thread.calls--;
        __atomic_fetch_sub(under_way, 1, __ATOMIC_SEQ_CST);
}

long calls_do(long number, long a, long b, long c, long d, long e, long f)
{
        if (!under_way) /* there is only one thread yet, or Valgrind runs the program */
                return system_call(number, a, b, c, d, e, f);
        long result = begin_call() ? system_call(number, a, b, c, d, e, f) : -EPERM;
        end_call();
        return result;
}

void calls_hold(void)
{
        const struct timespec turn = {.tv_nsec = HOLD_NS};
        __atomic_fetch_add(&holds, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < HOLD_TURNS &&
                        __atomic_load_n(under_way, __ATOMIC_SEQ_CST) > heap_thread.calls;
             i++)
                system_call(SYS_nanosleep, (long)&turn, 0, 0, 0, 0, 0);
}

void calls_resume(void)
{
        __atomic_fetch_sub(&holds, 1, __ATOMIC_SEQ_CST);
}

void calls_forget(void)
{
        if (under_way)
                __atomic_fetch_sub(under_way, heap_thread.calls, __ATOMIC_SEQ_CST);
        heap_thread.calls = 0;
}

bool calls_on_signal_stack(bool *on)
{
        stack_t stack;
        if (calls_do(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) != 0)
                return false;
        *on = stack.ss_flags & SS_ONSTACK;
        return true;
}

/* Twice the tracker's maximum stack use. */
enum { SIGNAL_STACK_LEAST_BYTES = 2560 };

__attribute__((noinline)) bool calls_have_little_stack(void)
{
        stack_t stack;
        if (calls_do(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) != 0)
                return true;
        return (stack.ss_flags & SS_ONSTACK) &&
               (uintptr_t)&stack - (uintptr_t)stack.ss_sp < SIGNAL_STACK_LEAST_BYTES;
}
