/* SPDX-License-Identifier: MIT */
/* Page faults after a fork, when two processes share the pages until one writes. Without
 * a recorder it prints the kernel's counts (getrusage): "function faults". */
#include "target.h"

#define APART __attribute__((noinline, noclone))
enum { PAGES = 2000, PAGE = 4096 };

#define WRITER(name, value)                                                              \
        APART static void name(char *p)                                                  \
        {                                                                                \
                for (size_t i = 0; i < PAGES; i++)                                       \
                        p[i * PAGE] = value;                                             \
        }
WRITER(write_in_child, 2)
WRITER(write_after_child, 3)
WRITER(write_beside_child, 4)
WRITER(write_shared, 5)
WRITER(write_after_vfork, 6)

/* Prints the page faults of FUNCTION. */
static void count(const char *name, void (*function)(char *), char *p)
{
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        function(p);
        getrusage(RUSAGE_SELF, &after);
        printf("%s %ld\n", name, after.ru_minflt - before.ru_minflt);
        fflush(stdout);
}

static char *fresh(int how)
{
        char *p = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
                       how | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
                exit(1);
        madvise(p, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
        memset(p, 1, (size_t)PAGES * PAGE);
        return p;
}

int main(void)
{
        char *p = fresh(MAP_PRIVATE), *other = fresh(MAP_PRIVATE);
        char *shared = fresh(MAP_SHARED);
        int gate[2];
        if (vfork() == 0)
                _exit(0);
        wait(NULL);
        count("write_after_vfork", write_after_vfork, p);
        if (fork() == 0) {
                count("write_in_child", write_in_child, p);
                _exit(0);
        }
        wait(NULL);
        count("write_after_child", write_after_child, p);
        count("write_shared", write_shared, shared);
        if (pipe(gate) != 0)
                return 1;
        if (fork() == 0) {
                close(gate[1]);
                _exit(read(gate[0], p, 1) != 0);
        }
        count("write_beside_child", write_beside_child, other);
        close(gate[1]);
        wait(NULL);
        return 0;
}
