/* SPDX-License-Identifier: MIT */
/* A call of a tracked function: whether it is told of, and what.
 *
 * Order. An end is told before the real function gives the memory back, because
 * another thread may get the same address at once; a beginning is told afterwards.
 * What realloc copies is read from the old block: that one is told of before and after.
 *
 * Nesting. Allocators call each other (operator new calls malloc, malloc may call
 * mmap); only the outermost call, the one that the target made, is told. A nested call
 * has its frame below the outermost one's. */
#ifndef MEMLAG_HEAP_CALL_H
#define MEMLAG_HEAP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <valgrind/valgrind.h>

#include "calls.h"
#include "channel.h"
#include "event.h"
#include "thread.h"

#define HIDDEN __attribute__((visibility("hidden")))
/* Kept in the exported function, so that the engine has one frame to leave out. */
#define INLINE static inline __attribute__((always_inline))

/* Who is told; nobody when the tracker was loaded by somebody else. Atomic. */
enum listener { NOBODY, ENGINE, MEMLAG };
extern enum listener heap_listener HIDDEN;

INLINE enum listener current_listener(void)
{
        return __atomic_load_n(&heap_listener, __ATOMIC_RELAXED);
}

enum { CALL_PAGE_BYTES = 4096 };

/* A call with a frame above the one that is under way: that one was left in the middle,
 * by a longjmp out of a signal's handler, unless a handler has a stack of its own. */
bool call_was_left(void) HIDDEN;

/* Whether the call that is under way, by all signs, was left in the middle: this one has
 * a FRAME below, but where the other's return address was, there is something else. */
bool call_is_overwritten(const void *frame) HIDDEN;

/* An allocator's own calls within one of the program's are few, and mostly near. */
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

/* The call with FRAME, which RETURNS there, is under way. A signal's handler may come
 * between any two of the stores. As long as they do not fit together its calls are told
 * as the program's own, and afterwards no call is under way and RETURNS is theirs: then
 * this is done again. */
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

/* Whether this call is to be told of: then it ends with leave(). */
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

/* As the engine's header makes a request; its own macro takes stack of the function for
 * each one in it. Tests have a function in its place. */
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

/* These are called between enter and leave: what a signal's handler does meanwhile is
 * not told, and cannot come into the middle of a record. */
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

/* The block OLD (NULL: none) is given another size. */
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

/* What was there is gone, and another mapping is there now. */
INLINE void tell_replaced(const void *start, size_t length_bytes)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_UNMAP, (uintptr_t)start, length_bytes, 0);
        else
                channel_unmap((uintptr_t)start, length_bytes, true);
}

#endif
