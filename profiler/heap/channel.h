/* SPDX-License-Identifier: MIT */
/* How the heap tracker tells memlag of blocks when the target runs as it is, on the
 * processor: records in a ring in shared memory, one for each process image, into which
 * all of its threads write without a lock. Runs inside somebody else's program: it keeps
 * no descriptor open, allocates nothing and leaves errno alone. */
#ifndef MEMLAG_HEAP_CHANNEL_H
#define MEMLAG_HEAP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

/* The C library lays the thread-locals of a program and of the libraries it starts with
 * one behind the other, and rounds their sum up to this (x86-64). What rounding adds, and
 * some 1700 bytes, are for libraries loaded later. */
enum { THREAD_LOCALS_UNIT_BYTES = 64 };

/* What is kept for each thread. Nothing else may be thread-local: one whole unit leaves
 * as much for libraries loaded later as there is without the tracker. */
union heap_thread {
        struct {
                const void *call;    /* frame address of the tracked function that the
                                        program called and that is under way; NULL: none */
                const void *returns; /* where to it will return */
                void *record; /* of the ring, that it wants to write or writes; or NULL */
                uint64_t position; /* of the ring's head, when it wanted that */
                uint32_t record_bytes;
                uint32_t tid;
                uint16_t image; /* in which it has this tid: counts forks */
                bool has_place; /* the record's place is its own */
                uint8_t nested; /* calls within CALL, modulo 256 */
                uint8_t calls;  /* the tracker's system calls that it is in */
        };
        char unit[THREAD_LOCALS_UNIT_BYTES];
};
_Static_assert(sizeof(union heap_thread) == THREAD_LOCALS_UNIT_BYTES,
               "thread-locals of one unit");
extern __thread union heap_thread heap_thread __attribute__((visibility("hidden")));

/* Opens the memory file that VALUE, of CHANNEL_VARIABLE, names. False: there is none, or
 * memlag has gone; nothing is told then. */
bool channel_open(const char *value);

/* Nothing is told any more, which is counted; no system call is made. */
void channel_close(void);

/* A program is executed that cannot take the tracker. */
void channel_count_refused(void);

/* Counts this process among those that cannot tell of their heap to the end. */
void channel_note_cut_off(void);

/* For a channel that is open. From here on the tracker makes no system call in any
 * thread, until channel_resume: those under way are waited for, a second at the most.
 * What needs one meanwhile is not told. */
void channel_hold(void);
void channel_resume(void);

/* For a channel that is open: whether this is the child of a vfork, in the memory of
 * another process, to which the channel belongs. */
bool channel_is_borrowed(void);

/* A system call that the hold holds (-EPERM); the kernel's own result. */
long channel_call(long number, long a, long b, long c, long d, long e, long f);

/* Whether the thread is on its alternate signal stack; false: that cannot be asked. */
bool channel_is_on_signal_stack(bool *on);

/* The thread has left a tracked function in the middle: what it was writing is void, and
 * keeps nobody waiting, unless it was left in the moment in which it got its place. */
void channel_abandon(void);

/* FRAME: the frame address (__builtin_frame_address(0)) of the tracked function. */
void channel_alloc(enum heap_function function, uintptr_t addr, size_t size_bytes,
                   const void *frame);
void channel_free(uintptr_t addr);
void channel_resize(uintptr_t addr);
void channel_resized(uintptr_t addr);
/* REPLACED: by another mapping. */
void channel_unmap(uintptr_t start, size_t length_bytes, bool replaced);

#endif
