/* SPDX-License-Identifier: MIT */
/* Memory that the program has from the kernel itself. */
#include <sys/mman.h>
#include <unistd.h>

#include "real.h"

/* No header's. */
void *mmap64(void *addr, size_t length, int protection, int flags, int fd, off_t offset);

enum { PAGE_BYTES = 4096 };

/* File mappings are known from elsewhere; anonymous mappings get an allocation site. A
 * fixed mapping replaces the old contents. Nobody else can get its addresses before the
 * event is recorded. */
EXPORT void *mmap(void *addr, size_t length, int protection, int flags, int fd,
                  off_t offset)
{
        start();
        if (!enter())
                return real.mmap(addr, length, protection, flags, fd, offset);
        void *start_addr = real.mmap(addr, length, protection, flags, fd, offset);
        if (start_addr != MAP_FAILED) {
                if (flags & MAP_FIXED)
                        tell_replaced(start_addr, length);
                if (flags & MAP_ANONYMOUS)
                        tell_alloc(HEAP_MMAP, start_addr, length);
        }
        leave();
        return start_addr;
}

EXPORT void *mmap64(void *addr, size_t length, int protection, int flags, int fd,
                    off_t offset) __attribute__((alias("mmap")));

EXPORT int munmap(void *addr, size_t length)
{
        start();
        bool valid = (uintptr_t)addr % PAGE_BYTES == 0 && length > 0;
        if (!valid || !enter())
                return real.munmap(addr, length);
        tell_unmap(addr, length);
        int code = real.munmap(addr, length);
        leave();
        return code;
}

/* Recorded afterwards: a failing call, such as growing in place, changes nothing, and
 * the old block could not be recorded again. */
EXPORT void *mremap(void *old, size_t old_length, size_t length, int flags, ...)
{
        start();
        void *wanted = NULL;
        if (flags & MREMAP_FIXED) {
                __builtin_va_list arguments;
                __builtin_va_start(arguments, flags);
                wanted = __builtin_va_arg(arguments, void *);
                __builtin_va_end(arguments);
        }
        if (!enter())
                return real.mremap(old, old_length, length, flags, wanted);
        void *start_addr = real.mremap(old, old_length, length, flags, wanted);
        if (start_addr != MAP_FAILED) {
                if (old_length > 0 && !(flags & MREMAP_DONTUNMAP))
                        tell_unmap(old, old_length);
                tell_alloc(HEAP_MREMAP, start_addr, length);
        }
        leave();
        return start_addr;
}

INLINE void tell_break(enum heap_function function, char *old, char *new)
{
        if (new > old)
                tell_alloc(function, old, (size_t)(new - old));
        else if (new < old)
                tell_unmap(new, (size_t)(old - new));
}

EXPORT int brk(void *addr)
{
        start();
        if (!enter())
                return real.brk(addr);
        void *old = real.sbrk(0);
        int code = real.brk(addr);
        if (code == 0)
                tell_break(HEAP_BRK, old, addr);
        leave();
        return code;
}

EXPORT void *sbrk(intptr_t increment)
{
        start();
        if (!enter())
                return real.sbrk(increment);
        char *old = real.sbrk(increment);
        if (old != (char *)-1)
                tell_break(HEAP_SBRK, old, old + increment);
        leave();
        return old;
}
