/* SPDX-License-Identifier: MIT */
/* The tracker's system calls. They are no cancellation points, leave errno alone, and
 * can be held while the program restricts itself. */
#ifndef MEMLAG_HEAP_CALLS_H
#define MEMLAG_HEAP_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* From here on calls can be held. COUNT, in memory that the kernel zeroes in a forked
 * child, is the number of system calls in progress. */
void calls_count_in(int32_t *count);

/* Makes a system call; -EPERM while calls are held, otherwise the kernel's result. */
long calls_do(long number, long a, long b, long c, long d, long e, long f);

/* Requires counted calls. The tracker makes no system call in any thread until
 * calls_resume. Waits for calls in progress, a second at most. Events that need a system
 * call meanwhile are not recorded. */
void calls_hold(void);
void calls_resume(void);

/* The thread has left a system call by a jump. */
void calls_forget(void);

/* Gets whether the thread is on its alternate signal stack; false: unknown. */
bool calls_on_signal_stack(bool *on);

/* Returns true if little room is left on the alternate signal stack in use, or if that
 * is unknown. Needs little stack itself. */
bool calls_have_little_stack(void);

/* A signal handler, and code that runs after it, sees all earlier stores. */
static inline void signal_fence(void)
{
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
