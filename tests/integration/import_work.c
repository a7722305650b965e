/* SPDX-License-Identifier: MIT */
/* The work that import.py records: threads touch pages and compute, a few calls deep.
 * Then forked children do the same; one of the children continues with exec. */
#include "target.h"

enum { THREADS = 3, CHILDREN = 2, PAGES = 150, PAGE_BYTES = 4096, ROUNDS = 8000000 };

static volatile unsigned long sum;

NOINLINE static void compute(unsigned long rounds)
{
        for (unsigned long i = 0; i < rounds; i++)
                sum += i * i;
}

NOINLINE static void touch(char *pages)
{
        for (size_t i = 0; i < PAGES; i++)
                pages[i * PAGE_BYTES] = 1;
        sum++; /* no tail call */
}

NOINLINE static void *work(void *unused)
{
        char *pages = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
                return NULL;
        touch(pages);
        compute(ROUNDS);
        munmap(pages, PAGES * PAGE_BYTES);
        return NULL;
}

NOINLINE static void run_children(char *program)
{
        for (int i = 0; i < CHILDREN; i++) {
                if (fork() != 0)
                        continue;
                work(NULL);
                if (i == 0)
                        execl(program, program, "once", (char *)NULL);
                _exit(0);
        }
        while (wait(NULL) > 0)
                ;
}

int main(int argc, char **argv)
{
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
                if (pthread_create(&threads[i], NULL, work, NULL) != 0)
                        return 1;
        for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        if (argc == 1)
                run_children(argv[0]);
        return 0;
}
