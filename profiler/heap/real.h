/* SPDX-License-Identifier: MIT */
/* The functions that the tracker replaces, and the addresses of the real functions. */
#ifndef MEMLAG_HEAP_REAL_H
#define MEMLAG_HEAP_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "call.h"

#define EXPORT __attribute__((visibility("default")))

/* X(name, result, parameters): the functions of the C library. */
#define C_FUNCTIONS(X)                                                                   \
        X(malloc, void *, (size_t))                                                      \
        X(calloc, void *, (size_t, size_t))                                              \
        X(realloc, void *, (void *, size_t))                                             \
        X(free, void, (void *))                                                          \
        X(reallocarray, void *, (void *, size_t, size_t))                                \
        X(aligned_alloc, void *, (size_t, size_t))                                       \
        X(memalign, void *, (size_t, size_t))                                            \
        X(posix_memalign, int, (void **, size_t, size_t))                                \
        X(valloc, void *, (size_t))                                                      \
        X(pvalloc, void *, (size_t))                                                     \
        X(mmap, void *, (void *, size_t, int, int, int, off_t))                          \
        X(munmap, int, (void *, size_t))                                                 \
        X(mremap, void *, (void *, size_t, size_t, int, ...))                            \
        X(brk, int, (void *))                                                            \
        X(sbrk, void *, (intptr_t))                                                      \
        X(dlclose, int, (void *))

/* X(mangled, function, parameters, arguments): C++'s operators new. SIZE is always the
 * first parameter; a further one is a placeholder for std::nothrow_t const &. */
#define NEW_OPERATORS(X)                                                                 \
        X(_Znwm, NEW, (size_t size), (size))                                             \
        X(_Znam, NEW_ARRAY, (size_t size), (size))                                       \
        X(_ZnwmRKSt9nothrow_t, NEW, (size_t size, const void *tag), (size, tag))         \
        X(_ZnamRKSt9nothrow_t, NEW_ARRAY, (size_t size, const void *tag), (size, tag))   \
        X(_ZnwmSt11align_val_t, NEW, (size_t size, size_t align), (size, align))         \
        X(_ZnamSt11align_val_t, NEW_ARRAY, (size_t size, size_t align), (size, align))   \
        X(_ZnwmSt11align_val_tRKSt9nothrow_t, NEW,                                       \
          (size_t size, size_t align, const void *tag), (size, align, tag))              \
        X(_ZnamSt11align_val_tRKSt9nothrow_t, NEW_ARRAY,                                 \
          (size_t size, size_t align, const void *tag), (size, align, tag))

/* X(mangled, parameters, arguments): C++'s operators delete. */
#define DELETE_OPERATORS(X)                                                              \
        X(_ZdlPv, (void *block), (block))                                                \
        X(_ZdaPv, (void *block), (block))                                                \
        X(_ZdlPvm, (void *block, size_t size), (block, size))                            \
        X(_ZdaPvm, (void *block, size_t size), (block, size))                            \
        X(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))            \
        X(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))            \
        X(_ZdlPvSt11align_val_t, (void *block, size_t align), (block, align))            \
        X(_ZdaPvSt11align_val_t, (void *block, size_t align), (block, align))            \
        X(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t align),              \
          (block, size, align))                                                          \
        X(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t align),              \
          (block, size, align))                                                          \
        X(_ZdlPvSt11align_val_tRKSt9nothrow_t,                                           \
          (void *block, size_t align, const void *tag), (block, align, tag))             \
        X(_ZdaPvSt11align_val_tRKSt9nothrow_t,                                           \
          (void *block, size_t align, const void *tag), (block, align, tag))

struct real_functions {
#define C_POINTER(name, result, parameters)                   result(*name) parameters;
#define NEW_POINTER(mangled, function, parameters, arguments) void *(*mangled)parameters;
#define DELETE_POINTER(mangled, parameters, arguments)        void(*mangled) parameters;
        C_FUNCTIONS(C_POINTER)
        NEW_OPERATORS(NEW_POINTER)
        DELETE_OPERATORS(DELETE_POINTER)
};
extern struct real_functions real HIDDEN;

/* Prototypes that no header gives. */
#define NEW_PROTOTYPE(mangled, function, parameters, arguments) void *mangled parameters;
#define DELETE_PROTOTYPE(mangled, parameters, arguments)        void mangled parameters;
NEW_OPERATORS(NEW_PROTOTYPE)
DELETE_OPERATORS(DELETE_PROTOTYPE)

extern bool real_started HIDDEN;
void real_find(void) HIDDEN;

/* The first call of a tracked function comes from the dynamic linker or a constructor,
 * before a second thread exists. */
INLINE void start(void)
{
        if (!real_started)
                real_find();
}

/* A program in C may load a library in C++ for itself alone: then the operators are
 * nowhere in the global order, and the caller's own libraries have them. */
void real_find_operator(void **function, const char *name, const void *caller) HIDDEN;

#endif
