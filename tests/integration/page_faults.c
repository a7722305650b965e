/* SPDX-License-Identifier: MIT */
/* Memory with a known number of page faults, each kind in a separate function. Without a
 * recorder it prints the kernel's counts (getrusage): "name faults". */
#include "target.h"

#define APART __attribute__((noinline, noclone))
enum { PAGES = 2000, PAGE = 4096 };

static volatile char sum;

APART static void write_fresh(char *p)
{
        for (size_t i = 0; i < PAGES; i++)
                p[i * PAGE] = 1; /* fresh */
}

APART static void write_again(char *p)
{
        for (size_t i = 0; i < PAGES; i++)
                p[i * PAGE] = 2; /* again */
}

/* By one instruction each, whose load is part of a write to the kernel. */
APART static void add_to_released(char *p)
{
        for (size_t i = 0; i < PAGES; i++)
                __asm__ volatile("addb $3, %0" : "+m"(p[i * PAGE]));
}

APART static void read_file(const char *p)
{
        for (size_t i = 0; i < PAGES; i++)
                sum += p[i * PAGE]; /* file */
}

/* The kernel touches its pages. The read is no call of the C library: the system call
 * must be an instruction of this function. */
APART static void read_into(char *p, int fd)
{
        long got;
        __asm__ volatile("syscall"
                         : "=a"(got)
                         : "0"(SYS_read), "D"(fd), "S"(p), "d"((long)PAGES * PAGE)
                         : "rcx", "r11", "memory");
        if (got != (long)PAGES * PAGE)
                exit(1);
}

/* The system call that made this memory has provided its pages. */
APART static void use_populated(char *p)
{
        for (size_t i = 0; i < PAGES; i++)
                sum += ++p[i * PAGE];
}

static char *map(int flags, int fd)
{
        char *p = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | flags, fd, 0);
        if (p == MAP_FAILED)
                exit(1);
        if (fd < 0 && !(flags & MAP_POPULATE))
                madvise(p, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
        return p;
}

static long faults(void)
{
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_minflt;
}

int main(int count, char **arguments)
{
        char *p = map(MAP_ANONYMOUS, -1);
        long before = faults();
        write_fresh(p);
        long fresh = faults();
        write_again(p);
        long again = faults();
        madvise(p, (size_t)PAGES * PAGE, MADV_DONTNEED);
        long released_before = faults();
        add_to_released(p);
        long released = faults();
        int fd = open(count > 1 ? arguments[1] : "page_faults.data", O_RDONLY);
        const char *file = map(0, fd);
        long file_before = faults();
        read_file(file);
        long file_after = faults();
        char *buffer = map(MAP_ANONYMOUS, -1);
        /* The kernel writes to two mappings, as where .bss begins inside a page. */
        mprotect(buffer, (size_t)PAGES / 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
        long into_before = faults();
        read_into(buffer, fd);
        long into_after = faults();
        char *populated[] = {map(MAP_ANONYMOUS | MAP_POPULATE, -1),
                             map(MAP_POPULATE, fd)};
        long populated_before = faults();
        use_populated(populated[0]);
        use_populated(populated[1]);
        printf("write_fresh %ld\nwrite_again %ld\nadd_to_released %ld\nread_file %ld\n"
               "read_into %ld\nuse_populated %ld\n",
               fresh - before, again - fresh, released - released_before,
               file_after - file_before, into_after - into_before,
               faults() - populated_before);
        return 0;
}
