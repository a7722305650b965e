/* SPDX-License-Identifier: MIT */
/* Events of the heap tracker: one for each block that begins or ends. Inside the
 * simulated PMU the tracker delivers events by client request. They then have the
 * model's time and Valgrind's call stack, in order with the samples. In a native target
 * they go through shared memory (channel.h). Only layout and names; nothing here needs a
 * C library. */
#ifndef MEMLAG_HEAP_EVENT_H
#define MEMLAG_HEAP_EVENT_H

/* X(symbol, name): every function that begins or ends a block. */
#define HEAP_FUNCTIONS(X)                                                                \
        X(MALLOC, "malloc")                                                              \
        X(CALLOC, "calloc")                                                              \
        X(REALLOC, "realloc")                                                            \
        X(REALLOCARRAY, "reallocarray")                                                  \
        X(ALIGNED_ALLOC, "aligned_alloc")                                                \
        X(MEMALIGN, "memalign")                                                          \
        X(POSIX_MEMALIGN, "posix_memalign")                                              \
        X(VALLOC, "valloc")                                                              \
        X(PVALLOC, "pvalloc")                                                            \
        X(NEW, "operator new")                                                           \
        X(NEW_ARRAY, "operator new[]")                                                   \
        X(MMAP, "mmap")                                                                  \
        X(MREMAP, "mremap")                                                              \
        X(BRK, "brk")                                                                    \
        X(SBRK, "sbrk")

enum heap_function {
#define HEAP_ENUM(symbol, name) HEAP_##symbol,
        HEAP_FUNCTIONS(HEAP_ENUM)
#undef HEAP_ENUM
            HEAP_FUNCTION_COUNT
};

/* Client requests of the simulated PMU (valgrind.h's VALGRIND_DO_CLIENT_REQUEST).
 * Base: VG_USERREQ_TOOL_BASE('M', 'L'). */
enum heap_request {
        /* (text_start, text_length, 0, 0, 0): the tracker is here; code in this
         * range is neither timed nor counted. Returns 1 inside the simulated PMU. */
        HEAP_REQUEST_TRACKER = 0,
        /* (enum heap_function, addr, size_bytes, 0, 0): a block begins. */
        HEAP_REQUEST_ALLOC = 1,
        /* (addr, 0, 0, 0, 0): the block at addr ends. */
        HEAP_REQUEST_FREE = 2,
        /* (addr, length_bytes, 0, 0, 0): all blocks, or parts of blocks, in the range
         * end. A source that sees unmapping directly may ignore it. */
        HEAP_REQUEST_UNMAP = 3,
        /* (addr, 0, 0, 0, 0): the thread gives the block at addr another size. It lives
         * until the next request, or until another block begins there. */
        HEAP_REQUEST_RESIZE = 4,
        /* (addr, 0, 0, 0, 0): the block at addr ends, if it is the block of this
         * thread's latest HEAP_REQUEST_RESIZE. Not sent after a failed resize. */
        HEAP_REQUEST_RESIZED = 5,
        /* (calls, 0, 0, 0, 0): at most this many calls were not recorded. */
        HEAP_REQUEST_UNTOLD = 6
};

/* The environment variable that connects the tracker of a native target to memlag. Its
 * value "PID:FILE:BELL" has memlag's process and two of its descriptors: the memory file
 * (simpmu/protocol.h) and a notification pipe. */
#define CHANNEL_VARIABLE "MEMLAG_HEAP"

#endif
