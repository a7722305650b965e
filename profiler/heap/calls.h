/* SPDX-License-Identifier: MIT */
/* The tracker's system calls: no cancellation points of the C library's, errno is left
 * alone, and they can be held while the program forbids itself some. */
#ifndef MEMLAG_HEAP_CALLS_H
#define MEMLAG_HEAP_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* From here on calls can be held. COUNT, in memory that the kernel zeroes in the child of
 * a fork, counts those that threads are in. */
void calls_count_in(int32_t *count);

/* A system call that the hold holds (-EPERM); the kernel's own result. */
long calls_do(long number, long a, long b, long c, long d, long e, long f);

/* Once calls are counted. From here on the tracker makes no system call in any
 * thread, until calls_resume: those under way are waited for, a second at the most.
 * What needs one meanwhile is not told. */
void calls_hold(void);
void calls_resume(void);

/* The thread was taken out of the middle of whatever it was in. */
void calls_forget(void);

/* Whether the thread is on its alternate signal stack; false: that cannot be asked. */
bool calls_on_signal_stack(bool *on);

/* Whether the thread is on its alternate signal stack and has less than this left there,
 * or that cannot be asked. Needs little stack itself. */
bool calls_have_little_stack(void);

/* What comes before it is there for a signal's handler, and who goes on after that. */
static inline void signal_fence(void)
{
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
