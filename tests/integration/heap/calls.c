/* SPDX-License-Identifier: MIT */
/* Calls every function of the C library that begins or ends a block, in the ways that
 * trackers get wrong. Standard output is unbuffered: it then does not allocate. */

#include "../target.h"
#include "expect.h"

/* Hides the allocator's behaviour from the compiler. */
static void *volatile last;
static volatile size_t huge = SIZE_MAX / 2 + 10;

static void *keep(void *block)
{
        last = block;
        return last;
}

static int is_aligned(const void *block, size_t align)
{
        return block && (uintptr_t)block % align == 0;
}

static void release(void *block)
{
        expect_free(block);
        errno = 77;
        free(block);
        show(errno == 77);
}

static void plain(void)
{
        char *block = keep(malloc(100));
        expect_alloc("malloc", block, 100);
        memset(block, 1, 100);
        release(block);
        free(NULL);

        block = keep(malloc(0));
        expect_alloc("malloc", block, 0);
        release(block);

        block = keep(calloc(7, 30));
        expect_alloc("calloc", block, 210);
        show(block[0] == 0 && block[209] == 0);
        release(block);

        errno = 0;
        show(keep(malloc(huge)) == NULL && errno == ENOMEM);
        errno = 0;
        show(keep(calloc(huge, 4)) == NULL && errno == ENOMEM);
}

static void resized(void)
{
        char *block = keep(realloc(NULL, 50));
        expect_alloc("realloc", block, 50);
        strcpy(block, "kept");
        unsigned long old = (unsigned long)(uintptr_t)block;
        expect_resize(block);
        block = keep(realloc(block, 500000));
        expect_resized(old);
        expect_alloc("realloc", block, 500000);
        show(strcmp(block, "kept") == 0);

        /* A failed call leaves the block alive. */
        errno = 0;
        expect_resize(block);
        show(keep(realloc(block, huge)) == NULL && errno == ENOMEM);
        errno = 0;
        expect_resize(block);
        show(keep(reallocarray(block, huge, 8)) == NULL && errno == ENOMEM);

        old = (unsigned long)(uintptr_t)block;
        expect_resize(block);
        block = keep(reallocarray(block, 9, 11));
        expect_resized(old);
        expect_alloc("reallocarray", block, 99);
        show(strcmp(block, "kept") == 0);

        old = (unsigned long)(uintptr_t)block;
        expect_resize(block);
        show(keep(realloc(block, 0)) == NULL);
        expect_resized(old);
}

static void aligned(void)
{
        void *block = keep(aligned_alloc(64, 128));
        expect_alloc("aligned_alloc", block, 128);
        show(is_aligned(block, 64));
        release(block);
        block = keep(memalign(256, 100));
        expect_alloc("memalign", block, 100);
        show(is_aligned(block, 256));
        release(block);
        show(posix_memalign(&block, 4096, 33) == 0);
        expect_alloc("posix_memalign", block, 33);
        show(is_aligned(block, 4096));
        release(block);
        show(posix_memalign(&block, 3, 33) == EINVAL);
        block = keep(valloc(10));
        expect_alloc("valloc", block, 10);
        show(is_aligned(block, 4096));
        release(block);
        block = keep(pvalloc(10));
        expect_alloc("pvalloc", block, 10);
        show(is_aligned(block, 4096));
        release(block);
}

static void mapped(void)
{
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        char *start = mmap(NULL, 40960, PROT_READ | PROT_WRITE, flags, -1, 0);
        expect_alloc("mmap", start, 40960);
        show(start != MAP_FAILED);
        start[40959] = 1;
        expect_unmap(start + 4096, 4096);
        show(munmap(start + 4096, 4096) == 0);
        void *fixed = mmap(start, 4096, PROT_READ, flags | MAP_FIXED, -1, 0);
        expect_unmap(fixed, 4096);
        expect_alloc("mmap", fixed, 4096);
        show(fixed == start);
        expect_unmap(start, 40960);
        show(munmap(start, 40960) == 0);
        errno = 0;
        show(munmap(start + 1, 4096) == -1 && errno == EINVAL);
        errno = 0;
        show(mmap(NULL, 0, PROT_READ, flags, -1, 0) == MAP_FAILED && errno == EINVAL);

        start = mmap(NULL, 8192, PROT_READ | PROT_WRITE, flags, -1, 0);
        expect_alloc("mmap", start, 8192);
        strcpy(start, "kept");
        char *moved = mremap(start, 8192, 1 << 20, MREMAP_MAYMOVE);
        expect_unmap(start, 8192);
        expect_alloc("mremap", moved, 1 << 20);
        show(strcmp(moved, "kept") == 0);
        errno = 0;
        show(mremap(moved + 1, 8192, 4096, 0) == MAP_FAILED && errno == EINVAL);
        expect_unmap(moved, 1 << 20);
        show(munmap(moved, 1 << 20) == 0);
}

static void broken(void)
{
        char *old = sbrk(0);
        show(sbrk(8192) == old);
        expect_alloc("sbrk", old, 8192);
        expect_alloc("brk", old + 8192, 4096);
        show(brk(old + 8192 + 4096) == 0);
        expect_unmap(old + 8192, 4096);
        show(brk(old + 8192) == 0);
        expect_unmap(old, 8192);
        show(sbrk(-8192) == old + 8192);
}

static void *in_thread(void *argument)
{
        void *block = keep(malloc(123));
        expect_alloc("malloc", block, 123);
        return block;
}

/* The C library's allocations for the thread itself do not count. */
static void threaded(void)
{
        pthread_t thread;
        void *block;
        if (pthread_create(&thread, NULL, in_thread, NULL) ||
            pthread_join(thread, &block))
                abort();
        release(block);
}

static void forked(void)
{
        char *block = keep(malloc(60));
        expect_alloc("malloc", block, 60);
        pid_t pid = fork();
        if (pid == 0) {
                release(block);
                _exit(5);
        }
        int status;
        show(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
        release(block);
}

int main(int argc, char **argv)
{
        setvbuf(stdout, NULL, _IONBF, 0);
        plain();
        resized();
        aligned();
        mapped();
        broken();
        forked();
        if (argc > 1 && strcmp(argv[1], "threads") == 0)
                threaded();
        return 42;
}
