/* SPDX-License-Identifier: MIT */
/* Code that is made at run time, with a frame pointer and without an unwind table, calls.
 */
#include <string.h>
#include <sys/mman.h>

static volatile long sum;

static __attribute__((noinline)) void burn(long steps)
{
        for (long i = 0; i < steps; i++)
                sum += i * i;
}

static __attribute__((noinline)) void work(void)
{
        burn(1000000);
        burn(1000000);
}

int main(void)
{
        /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
        static const char code[] = "\x55\x48\x89\xe5\xff\xd7\x5d\xc3";
        void *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED)
                return 1;
        memcpy(room, code, sizeof(code));
        void (*made)(void (*)(void)) = (void (*)(void (*)(void)))room;
        for (int i = 0; i < 100; i++)
                made(work);
        return 0;
}
