/* SPDX-License-Identifier: MIT */
/* A signal handler makes and ends a mapping after each single instruction of a tracked
 * function, by the processor's trap flag. It does so once in a call, and once more one to
 * four instructions later. The tracked function calls another one. Only the function that
 * the program called is reported. */

#include "../target.h"
#include "trap_flag.h"

enum { STEPS = 120, AFTERWARDS = 4, SIZE = 70000, HANDLERS_BYTES = 8192 };

static volatile long first, second, steps;

static void on_trap(int number)
{
        void *mapping;
        steps++;
        if (steps != first && steps != second)
                return;
        mapping =
            mmap(NULL, HANDLERS_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(mapping, HANDLERS_BYTES);
}

int main(void)
{
        struct sigaction action = {.sa_handler = on_trap};
        long calls = 0;
        void *block;
        free(reallocarray(NULL, 1, SIZE + 1)); /* looked up once, here */
        sigaction(SIGTRAP, &action, NULL);
        for (first = 1; first <= STEPS; first++)
                for (second = first; second <= first + AFTERWARDS; second++) {
                        steps = 0;
                        set_trap_flag(1);
                        block = reallocarray(NULL, 1, SIZE);
                        set_trap_flag(0);
                        if (steps < STEPS / 2)
                                return 1;
                        free(block);
                        calls++;
                }
        printf("%ld calls\n", calls);
        return 0;
}
