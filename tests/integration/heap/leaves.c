/* SPDX-License-Identifier: MIT */
/* A signal handler leaves tracked functions in the middle, by siglongjmp. The thread
 * continues. The sizes of its next blocks show that they are tracked. */
#include "../target.h"

enum { PAGE_BYTES = 4096, STACK_BYTES = 65536, JUMPS = 1000, FIRST_SIZE = 70000 };

static sigjmp_buf place;
static char other_stack[STACK_BYTES];

static void leave(int number)
{
        siglongjmp(place, number);
}

/* Calls THERE from DEPTH frames further down. */
NOINLINE static void go_down(int depth, void (*there)(void))
{
        char frame[500];
        memset(frame, depth, sizeof(frame));
        __asm__ volatile("" ::"r"(frame) : "memory");
        if (depth > 0)
                go_down(depth - 1, there);
        else
                there();
        __asm__ volatile("");
}

static void free_nothing(void)
{
        free((void *)64); /* where nothing is mapped */
}

/* A free that ends with SIGSEGV, deep in the stack. The handler runs on the same stack or
 * on an alternate one. Then a block from here. */
static void leave_free(int flags, size_t size)
{
        struct sigaction action = {.sa_handler = leave, .sa_flags = flags};
        sigaction(SIGSEGV, &action, NULL);
        if (sigsetjmp(place, 1) == 0)
                go_down(10, free_nothing);
        free(malloc(size));
}

/* A timer leaves the kernel's mmap() and munmap() at any moment. The program itself holds
 * no lock meanwhile. */
static void leave_anywhere(void)
{
        const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
        struct sigaction action = {.sa_handler = leave};
        volatile int jumps = 0;
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
        if (sigsetjmp(place, 1) != 0)
                jumps++;
        while (jumps < JUMPS) {
                void *page =
                    mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

                munmap(page, PAGE_BYTES);
        }
        setitimer(ITIMER_REAL, &never, NULL);
}

static void allocate(void)
{
        for (int i = 0; i < 1000; i++)
                free(malloc(FIRST_SIZE + 3));
}

/* Calls below a left frame. At first its return address is still on the stack, because
 * nothing has been written there; then it is not. */
NOINLINE static void write_late(void)
{
        char frame[2 * PAGE_BYTES];
        __asm__ volatile("" ::"r"(frame) : "memory");
        for (int i = 0; i < 60; i++) {
                if (i == 20)
                        memset(frame, 0, sizeof(frame));
                __asm__ volatile("" ::"r"(frame) : "memory");
                if (!malloc(FIRST_SIZE + 4))
                        exit(1);
        }
}

int main(void)
{
        stack_t other = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};

        sigaltstack(&other, NULL);
        leave_free(0, FIRST_SIZE);
        leave_free(SA_ONSTACK, FIRST_SIZE + 1);
        leave_anywhere();
        for (int i = 0; i < 200000; i++) /* more than the ring holds */
                free(malloc(16));
        free(malloc(FIRST_SIZE + 2));
        if (sigsetjmp(place, 1) == 0)
                free((void *)64);
        go_down(3, allocate); /* below the frame of the function that was left */
        if (sigsetjmp(place, 1) == 0)
                go_down(1, free_nothing);
        write_late();
        puts("left");
        return 0;
}
