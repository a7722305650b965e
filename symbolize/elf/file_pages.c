/* SPDX-License-Identifier: MIT */
/* A page behind the end of its file raises SIGBUS when it is touched. The signal's
 * handler maps zeros there if the page is a lent page. Otherwise it passes the signal
 * to the previous handler. */
#include "file_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

/* More are read. A program has a few sections that are worth it. */
enum { LENT_MOST = 64 };

static struct lent {
        atomic_uintptr_t start; /* 0: none */
        atomic_uintptr_t end;
} lent[LENT_MOST];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;

/* Where the range that was lent and holds ADDRESS ends; 0: there is none. */
static uintptr_t lent_end(uintptr_t address)
{
        for (size_t i = 0; i < LENT_MOST; i++) {
                uintptr_t end = atomic_load(&lent[i].end);

                if (address >= atomic_load(&lent[i].start) && address < end)
                        return end;
        }
        return 0;
}

static bool put_plain(uintptr_t start, size_t bytes)
{
        return mmap((void *)start, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (void *)start;
}

/* To the end of the range, for all behind the page is missing too: page by page the
 * mappings would become more than a process may have. */
static bool put_zeros(uintptr_t address)
{
        uintptr_t end = lent_end(address), start = address - address % FILE_PAGE_BYTES;

        return end && put_plain(start, end - start);
}

/* An instruction is tried again, without this handler; a signal that was sent does not
 * come again by itself. */
static void hand_on(int number, bool sent)
{
        if (sent && before.sa_handler == SIG_IGN)
                return;
        sigaction(number, &before, NULL);
        if (sent)
                raise(number);
}

static void on_missing_page(int number, siginfo_t *info, void *context)
{
        int error = errno;
        bool sent = info->si_code <= 0; /* and no address is in INFO */

        (void)context;
        if (sent || !put_zeros((uintptr_t)info->si_addr))
                hand_on(number, sent);
        errno = error;
}

/* Somebody may have put another handler there since the last time. */
static bool handle_missing_pages(void)
{
        struct sigaction action = {.sa_sigaction = on_missing_page,
                                   .sa_flags = SA_SIGINFO | SA_RESTART};
        struct sigaction now;

        if (sigaction(SIGBUS, NULL, &now) != 0)
                return false;
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_missing_page)
                return true;
        before = now;
        return sigaction(SIGBUS, &action, NULL) == 0;
}

static int lend(struct lent *entry, char *start, size_t bytes, int fd, uint64_t offset)
{
        /* Before a page can be missing. Ends tell ranges from no ranges. */
        atomic_store(&entry->start, (uintptr_t)start);
        atomic_store(&entry->end, (uintptr_t)start + bytes);
        if (mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
                 (off_t)offset) == start)
                return 0;
        atomic_store(&entry->end, 0);
        atomic_store(&entry->start, 0);
        /* The former contents may be gone. */
        put_plain((uintptr_t)start, bytes);
        return -ENOTSUP;
}

static struct lent *free_entry(void)
{
        for (size_t i = 0; i < LENT_MOST; i++)
                if (atomic_load(&lent[i].start) == 0)
                        return &lent[i];
        return NULL;
}

/* The kernel reads ahead missing parts of the file, and maps many pages at a time,
 * which is faster than page by page. Between two calls other threads can allocate
 * memory, for which they wait during a call. An older kernel, or a missing page, ends
 * it early without harm. */
static void populate(char *start, size_t bytes, int fd, uint64_t offset)
{
        enum { STEP_BYTES = 4 << 20 };

        posix_fadvise(fd, (off_t)offset, (off_t)bytes, POSIX_FADV_WILLNEED);
        for (size_t step; bytes > 0; start += step, bytes -= step) {
                step = bytes < STEP_BYTES ? bytes : STEP_BYTES;
                if (madvise(start, step, MADV_POPULATE_READ) != 0)
                        return;
        }
}

int file_pages_lend(char *start, size_t bytes, int fd, uint64_t offset)
{
        int error = -ENOTSUP;

        if ((uintptr_t)start % FILE_PAGE_BYTES || bytes % FILE_PAGE_BYTES ||
            offset % FILE_PAGE_BYTES || bytes == 0)
                return error;
        pthread_mutex_lock(&changing);
        struct lent *entry = free_entry();

        if (entry && handle_missing_pages())
                error = lend(entry, start, bytes, fd, offset);
        pthread_mutex_unlock(&changing);
        if (!error)
                populate(start, bytes, fd, offset);
        return error;
}

void file_pages_return(char *start, size_t bytes)
{
        uintptr_t from = (uintptr_t)start;

        pthread_mutex_lock(&changing);
        for (size_t i = 0; i < LENT_MOST; i++) {
                uintptr_t at = atomic_load(&lent[i].start),
                          end = atomic_load(&lent[i].end);

                if (at < from || end > from + bytes || at == 0)
                        continue;
                put_plain(at, end - at);
                atomic_store(&lent[i].end, 0);
                atomic_store(&lent[i].start, 0);
        }
        pthread_mutex_unlock(&changing);
}
