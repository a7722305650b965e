/* SPDX-License-Identifier: MIT */
/* The heap tracker: a shared object that is loaded before the target's libraries. It
 * replaces every function that begins or ends a block, calls the real function and
 * records an event (event.h). It runs inside a foreign program: it never allocates, and
 * preserves results, errno, output and environment.
 *
 * Contains its start, and the C library's heap functions. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "real.h"
#include "unwinder.h"

/* Prototypes that no header gives. */
void *memalign(size_t align, size_t size);
void *pvalloc(size_t size);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t align, size_t size);

/* ---- before the real functions are known ---- */

/* The dynamic linker may allocate while it looks the real functions up. Such blocks are
 * few and are never freed. */
static char early_memory[16384] __attribute__((aligned(16)));
static size_t early_used;

static void *early_alloc(size_t size)
{
        if (size > sizeof(early_memory) - early_used) {
                errno = ENOMEM;
                return NULL;
        }
        void *block = early_memory + early_used;
        size_t rounded = (size + 15) & ~(size_t)15;
        size_t left = sizeof(early_memory) - early_used;
        early_used += rounded < left ? rounded : left;
        return block;
}

INLINE bool is_early(const void *block)
{
        return (uintptr_t)block - (uintptr_t)early_memory < sizeof(early_memory);
}

/* Moves an early block to the real heap. */
static void *leave_early(const void *block, size_t size)
{
        size_t left = (size_t)(early_memory + sizeof(early_memory) - (const char *)block);
        void *copy = malloc(size);
        if (copy)
                memcpy(copy, block, size < left ? size : left);
        return copy;
}

/* ---- malloc and its family ---- */

EXPORT void *malloc(size_t size)
{
        start();
        if (!real.malloc)
                return early_alloc(size);
        if (!enter())
                return real.malloc(size);
        void *block = real.malloc(size);
        if (block)
                tell_alloc(HEAP_MALLOC, block, size);
        leave();
        return block;
}

EXPORT void *calloc(size_t count, size_t size)
{
        start();
        if (!real.calloc)
                return early_alloc(count * size); /* never used before: zero */
        if (!enter())
                return real.calloc(count, size);
        void *block = real.calloc(count, size);
        if (block)
                tell_alloc(HEAP_CALLOC, block, count * size);
        leave();
        return block;
}

EXPORT void free(void *block)
{
        start();
        if (is_early(block) || !real.free)
                return;
        if (!block || !enter()) {
                real.free(block);
                return;
        }
        tell_free(block);
        real.free(block);
        leave();
}

/* OLD lives while its contents are copied, and where that fails. */
INLINE void tell_result(enum heap_function function, const void *old, const void *block,
                        size_t size)
{
        if (block || size == 0) /* size 0: the C library freed it */
                tell_resized(old);
        if (block)
                tell_alloc(function, block, size);
}

EXPORT void *realloc(void *old, size_t size)
{
        start();
        if (is_early(old))
                return leave_early(old, size);
        if (!real.realloc)
                return early_alloc(size);
        if (!enter())
                return real.realloc(old, size);
        tell_resize(old);
        void *block = real.realloc(old, size);
        tell_result(HEAP_REALLOC, old, block, size);
        leave();
        return block;
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
        start();
        size_t product;
        if (__builtin_mul_overflow(count, size, &product))
                product = SIZE_MAX;
        if (is_early(old))
                return leave_early(old, product);
        if (!enter())
                return real.reallocarray(old, count, size);
        tell_resize(old);
        void *block = real.reallocarray(old, count, size);
        tell_result(HEAP_REALLOCARRAY, old, block, product);
        leave();
        return block;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
        start();
        if (!enter())
                return real.aligned_alloc(align, size);
        void *block = real.aligned_alloc(align, size);
        if (block)
                tell_alloc(HEAP_ALIGNED_ALLOC, block, size);
        leave();
        return block;
}

EXPORT void *memalign(size_t align, size_t size)
{
        start();
        if (!enter())
                return real.memalign(align, size);
        void *block = real.memalign(align, size);
        if (block)
                tell_alloc(HEAP_MEMALIGN, block, size);
        leave();
        return block;
}

EXPORT int posix_memalign(void **block, size_t align, size_t size)
{
        start();
        if (!enter())
                return real.posix_memalign(block, align, size);
        int code = real.posix_memalign(block, align, size);
        if (code == 0 && *block)
                tell_alloc(HEAP_POSIX_MEMALIGN, *block, size);
        leave();
        return code;
}

EXPORT void *valloc(size_t size)
{
        start();
        if (!enter())
                return real.valloc(size);
        void *block = real.valloc(size);
        if (block)
                tell_alloc(HEAP_VALLOC, block, size);
        leave();
        return block;
}

EXPORT void *pvalloc(size_t size)
{
        start();
        if (!enter())
                return real.pvalloc(size);
        void *block = real.pvalloc(size);
        if (block)
                tell_alloc(HEAP_PVALLOC, block, size);
        leave();
        return block;
}

/* C23: the same as free, with the caller's size of the block. */
EXPORT void free_sized(void *block, size_t size)
{
        (void)size;
        free(block);
}

EXPORT void free_aligned_sized(void *block, size_t align, size_t size)
{
        (void)align;
        (void)size;
        free(block);
}

/* ---- loaded code, and the start ---- */

EXPORT int dlclose(void *handle)
{
        start();
        int code = real.dlclose(handle);
        unwind_forget();
        return code;
}

/* Linked to run before any other constructor, which may read the environment. */
__attribute__((constructor)) static void load(int argc, char **argv, char **environment)
{
        (void)argc;
        (void)argv;
        start();
        const char *channel = environment_channel(environment);
        if (heap_listener == NOBODY && channel && channel_open(channel)) {
                environment_follow(environment);
                heap_listener = MEMLAG;
        }
        if (heap_listener != NOBODY || channel)
                environment_restore(environment);
}
