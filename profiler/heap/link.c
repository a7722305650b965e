/* SPDX-License-Identifier: MIT */
/* Opens the memory file and the bell by their names in /proc for each use: the program
 * has no descriptor of memlag. */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../simpmu/slice.h"
#include "heap_calls.h"

struct simpmu_control *link_control;
static struct stat file_status;
static char file_path[64];
static char bell_path[64];

static long open_file(const char *path)
{
        return calls_do(SYS_openat, AT_FDCWD, (long)path,
                        O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
}

static void close_file(long fd)
{
        calls_do(SYS_close, fd, 0, 0, 0, 0, 0);
}

static void *map(long fd, uint64_t offset, size_t bytes)
{
        long address = calls_do(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED, fd, (long)offset);
        return address < 0 ? NULL : (void *)address;
}

/* Opens the memory file; negative when it no longer exists, as after memlag's end. */
static long open_memory(void)
{
        struct stat status;
        long fd = open_file(file_path);
        if (fd < 0)
                return fd;
        /* In another PID namespace, that may be anybody's file. */
        if (calls_do(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH, 0, 0) ==
                0 &&
            S_ISREG(status.st_mode) &&
            (file_status.st_ino == 0 || (status.st_ino == file_status.st_ino &&
                                         status.st_dev == file_status.st_dev))) {
                file_status = status;
                return fd;
        }
        close_file(fd);
        return -ESTALE;
}

bool link_is_gone(void)
{
        if (__atomic_load_n(&link_control->stop, __ATOMIC_ACQUIRE) != 0)
                return true;
        long fd = open_memory();
        if (fd < 0)
                return fd != -EMFILE && fd != -ENFILE;
        close_file(fd);
        return false;
}

void link_ring(void)
{
        long fd = open_file(bell_path); /* opened for reading too: then it raises no
                                           SIGPIPE */
        if (fd < 0)
                return;
        calls_do(SYS_write, fd, (long)"", 1, 0, 0, 0);
        close_file(fd);
}

/* Reads digits up to END (':' or '\0') into *NUMBER; NULL: no digits. */
static const char *read_digits(const char *text, char end, uint32_t *number)
{
        uint64_t value = 0;
        const char *at = text;
        while (*at >= '0' && *at <= '9' && value <= INT32_MAX)
                value = value * 10 + (uint64_t)(*at++ - '0');
        *number = (uint32_t)value;
        return at > text && *at == end && value <= INT32_MAX ? at + 1 : NULL;
}

static bool read_value(const char *value)
{
        uint32_t pid, file, bell;
        const char *at = read_digits(value, ':', &pid);
        at = at ? read_digits(at, ':', &file) : NULL;
        if (!at || !read_digits(at, '\0', &bell))
                return false;
        snprintf(file_path, sizeof(file_path), "/proc/%u/fd/%u", pid, file);
        snprintf(bell_path, sizeof(bell_path), "/proc/%u/fd/%u", pid, bell);
        return true;
}

static bool open_control(void)
{
        long fd = open_memory();
        if (fd < 0)
                return false;
        if ((uint64_t)file_status.st_size >= SIMPMU_CONTROL_BYTES)
                link_control = map(fd, 0, SIMPMU_CONTROL_BYTES);
        close_file(fd);
        return link_control && link_control->magic == SIMPMU_MAGIC &&
               link_control->version == SIMPMU_VERSION && !link_control->stop &&
               !link_control->no_heap;
}

bool link_open(const char *value)
{
        return read_value(value) && open_control();
}

struct simpmu_slice *link_map_slice(void)
{
        struct simpmu_slice *slice = NULL;
        long fd = open_memory();
        if (fd < 0) {
                link_note_cut_off();
                return NULL;
        }
        uint64_t number =
            __atomic_fetch_add(&link_control->slices_claimed, 1, __ATOMIC_ACQ_REL);
        uint64_t offset = slice_offset(number);
        if (offset + SIMPMU_SLICE_BYTES <= (uint64_t)file_status.st_size)
                slice = map(fd, offset, SIMPMU_SLICE_BYTES);
        close_file(fd);
        return slice;
}

void link_note_cut_off(void)
{
        if (__atomic_load_n(&link_control->stop, __ATOMIC_RELAXED) == 0)
                __atomic_fetch_add(&link_control->heaps_cut_off, 1, __ATOMIC_RELAXED);
}

void link_count_untold(uint32_t calls)
{
        __atomic_fetch_add(&link_control->calls_untold, calls, __ATOMIC_RELAXED);
}

void link_count_refused(void)
{
        __atomic_fetch_add(&link_control->programs_refused, 1, __ATOMIC_RELAXED);
}
