/* SPDX-License-Identifier: MIT */
/* Functions that the test programs share. A program writes its actions to descriptor 8,
 * in the words of heap_consume.c; the descriptor is closed when the program runs alone.
 * Nothing here allocates. */
#ifndef HEAP_TEST_EXPECT_H
#define HEAP_TEST_EXPECT_H

#include "../target.h"

static inline void put_line(int fd, const char *line)
{
        if (write(fd, line, strlen(line)) < 0 && errno != EBADF)
                abort();
}

__attribute__((format(printf, 1, 2))) static inline void expect(const char *format, ...)
{
        int saved_errno = errno;
        char line[256];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(line, sizeof(line) - 1, format, arguments);
        va_end(arguments);
        strcat(line, "\n");
        put_line(8, line);
        errno = saved_errno;
}

static inline void expect_alloc(const char *function, const void *block, size_t size)
{
        expect("alloc %s 0x%lx 0x%lx", function, (unsigned long)(uintptr_t)block,
               (unsigned long)size);
}

static inline void expect_free(const void *block)
{
        expect("free 0x%lx", (unsigned long)(uintptr_t)block);
}

static inline void expect_resize(const void *block)
{
        expect("resize 0x%lx", (unsigned long)(uintptr_t)block);
}

static inline void expect_resized(unsigned long old)
{
        expect("resized 0x%lx", old);
}

static inline void expect_unmap(const void *start, size_t length)
{
        expect("unmap 0x%lx 0x%lx", (unsigned long)(uintptr_t)start,
               (unsigned long)length);
}

/* The same on standard output. It prints no addresses, so all runs give the same text. */
#define show(condition) printf("%s: %s\n", #condition, (condition) ? "yes" : "no")

#endif
