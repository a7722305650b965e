/* SPDX-License-Identifier: MIT */
/* A call of a tracked function: whether it is recorded, and which event.
 *
 * Order. An end is recorded before the real function frees the memory, because another
 * thread may get the same address at once. A beginning is recorded afterwards. realloc
 * copies from the old block, therefore it records an event before and an event after.
 *
 * Nesting. Allocators call each other (operator new calls malloc, malloc may call mmap).
 * Only the outermost call, made by the target, is recorded. A nested call has its frame
 * below the outermost call's frame. */
#ifndef MEMLAG_HEAP_CALL_H
#define MEMLAG_HEAP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <valgrind/valgrind.h>

#include "channel.h"
#include "event.h"
#include "heap_calls.h"
#include "heap_thread.h"

#define HIDDEN __attribute__((visibility("hidden")))
/* Inlined into the exported function: Valgrind then has one frame to skip. */
#define INLINE static inline __attribute__((always_inline))

/* Receiver of the events; NOBODY if something other than memlag loaded the tracker.
 * Atomic. */
enum listener { NOBODY, ENGINE, MEMLAG };
extern enum listener heap_listener HIDDEN;

INLINE enum listener current_listener(void)
{
        return __atomic_load_n(&heap_listener, __ATOMIC_RELAXED);
}

enum { CALL_PAGE_BYTES = 4096 };

/* For a call whose frame is above the current call's frame. The current call was
 * abandoned, by a longjmp out of a signal handler, unless a handler runs on an alternate
 * stack. */
bool call_was_left(void) HIDDEN;

/* Returns true if the current call was probably abandoned. The new call has a FRAME
 * below, but the current call's return address was overwritten. */
bool call_is_overwritten(const void *frame) HIDDEN;

/* An allocator's calls within a call of the program are few, and mostly near. */
INLINE bool was_left_above(const void *frame)
{
        const void *const *word = (const void *const *)heap_thread.call + 1;
        bool near = ((uintptr_t)word ^ (uintptr_t)frame) < CALL_PAGE_BYTES;
        heap_thread.nested++;
        return !(near && *word == heap_thread.returns) && call_is_overwritten(frame);
}

/* In this order: once RETURNS is right, only a handler that was there before can have
 * taken the frame away. */
INLINE bool call_stands(const void *frame, const void *returns)
{
        bool stands = heap_thread.returns == returns;
        signal_fence();
        return stands && heap_thread.call == frame;
}

/* Marks the call with FRAME, which RETURNS there, as current. A signal handler may
 * interrupt between any two stores. While the stores are inconsistent, the handler's
 * calls are recorded as calls of the program. Afterwards no call is current and RETURNS
 * is the handler's: then the stores are repeated. */
INLINE void set_call(const void *frame, const void *returns)
{
        do {
                heap_thread.call = NULL;
                signal_fence();
                heap_thread.returns = returns;
                heap_thread.nested = 0;
                signal_fence();
                heap_thread.call = frame;
                signal_fence();
        } while (__builtin_expect(!call_stands(frame, returns), 0));
}

/* Returns true if this call must be recorded: then it ends with leave(). */
INLINE bool enter(void)
{
        const void *frame = __builtin_frame_address(0);
        const void *call = heap_thread.call;
        if (current_listener() == NOBODY ||
            (call && !(frame < call ? was_left_above(frame) : call_was_left())))
                return false;
        set_call(frame, __builtin_return_address(0));
        return true;
}

INLINE void leave(void)
{
        signal_fence();
        heap_thread.call = NULL;
}

/* Makes a request like Valgrind's header, whose macro takes stack space of the function
 * for each use. Tests replace it by a function. */
#ifndef HEAP_REQUEST
#define HEAP_REQUEST(words)                                                              \
        do {                                                                             \
                uint64_t request_result;                                                 \
                __asm__ volatile(__SPECIAL_INSTRUCTION_PREAMBLE "xchgq %%rbx,%%rbx"      \
                                 : "=d"(request_result)                                  \
                                 : "a"(words), "0"(UINT64_C(0))                          \
                                 : "cc", "memory");                                      \
                (void)request_result;                                                    \
        } while (0)
#endif

INLINE void request(enum heap_request number, uintptr_t first, uintptr_t second,
                    uintptr_t third)
{
        uint64_t words[] = {
            VG_USERREQ_TOOL_BASE('M', 'L') + number, first, second, third, 0, 0};
        HEAP_REQUEST(words);
}

/* These are called between enter and leave. Calls of a signal handler meanwhile are not
 * recorded, and cannot corrupt a record. */
INLINE void tell_alloc(enum heap_function function, const void *block, size_t size_bytes)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_ALLOC, function, (uintptr_t)block, size_bytes);
        else
                channel_alloc(function, (uintptr_t)block, size_bytes,
                              __builtin_frame_address(0));
}

INLINE void tell_free(const void *block)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_FREE, (uintptr_t)block, 0, 0);
        else
                channel_free((uintptr_t)block);
}

/* The block OLD (NULL: none) is being resized. */
INLINE void tell_resize(const void *old)
{
        if (!old)
                return;
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_RESIZE, (uintptr_t)old, 0, 0);
        else
                channel_resize((uintptr_t)old);
}

INLINE void tell_resized(const void *old)
{
        if (!old)
                return;
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_RESIZED, (uintptr_t)old, 0, 0);
        else
                channel_resized((uintptr_t)old);
}

INLINE void tell_unmap(const void *start, size_t length_bytes)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_UNMAP, (uintptr_t)start, length_bytes, 0);
        else
                channel_unmap((uintptr_t)start, length_bytes, false);
}

/* Another mapping has replaced the old contents. */
INLINE void tell_replaced(const void *start, size_t length_bytes)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_UNMAP, (uintptr_t)start, length_bytes, 0);
        else
                channel_unmap((uintptr_t)start, length_bytes, true);
}

#endif
