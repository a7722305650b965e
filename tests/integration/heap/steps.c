/* SPDX-License-Identifier: MIT */
/* Threads leave a tracked function after a given number of its instructions, by the
 * processor's trap flag and a signal handler. With the argument `exit` the thread ends
 * there, with `jump` it continues elsewhere. The later allocations overfill the ring. */

#include "../target.h"
#include "trap_flag.h"

enum { PAGE_BYTES = 4096, STEPS = 900, BLOCKS = 100000, SIZE = 70000 };

static __thread sigjmp_buf away;
static __thread volatile long steps_left;
static int exits;

static void on_trap(int number)
{
        if (--steps_left >= 0)
                return;
        if (exits)
                syscall(SYS_exit, 0);
        siglongjmp(away, 1);
}

static void map_page(void)
{
        void *page =
            mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(page, PAGE_BYTES);
}

/* Leaves the second call, because the first one reports the stack. */
static void *leave(void *steps)
{
        volatile int times = 0;
        steps_left = (long)steps;
        if (sigsetjmp(away, 1) == 0)
                while (times++ < 2) {
                        if (times == 2)
                                set_trap_flag(1);
                        map_page();
                        set_trap_flag(0);
                }
        map_page();
        return NULL;
}

static void *allocate(void *unused)
{
        for (int i = 0; i < BLOCKS; i++)
                free(malloc(SIZE));
        return unused;
}

int main(int argc, char **argv)
{
        struct sigaction action = {.sa_handler = on_trap};
        pthread_t thread;
        exits = argc > 1 && strcmp(argv[1], "exit") == 0;
        sigaction(SIGTRAP, &action, NULL);
        for (long steps = 0; steps < STEPS; steps++) {
                if (pthread_create(&thread, NULL, leave, (void *)steps) != 0)
                        return 1;
                pthread_join(thread, NULL);
        }
        if (pthread_create(&thread, NULL, allocate, NULL) != 0)
                return 1;
        allocate(NULL);
        pthread_join(thread, NULL);
        puts("left");
        return 0;
}
