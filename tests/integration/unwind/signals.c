/* SPDX-License-Identifier: MIT */
/* Handlers of signals, on the same stack and on one of their own, one in another. */
#include "../target.h"

static volatile long sum;

NOINLINE static void burn(long steps)
{
        for (long i = 0; i < steps; i++)
                sum += i * i;
}

NOINLINE static void inner_handler(int number)
{
        burn(100000 + number);
}

NOINLINE static void handler(int number)
{
        burn(100000 + number);
        raise(SIGUSR1);
}

__attribute__((noinline)) void interrupted(int depth)
{
        if (depth)
                interrupted(depth - 1);
        burn(1000000);
}

int main(void)
{
        static char room[1 << 16];
        const stack_t own = {.ss_sp = room, .ss_size = sizeof(room)};
        struct sigaction action;
        const struct itimerval every = {{0, 2000}, {0, 2000}};
        memset(&action, 0, sizeof(action));
        action.sa_handler = inner_handler;
        action.sa_flags = SA_ONSTACK;
        if (sigaltstack(&own, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
                return 1;
        action.sa_handler = handler;
        action.sa_flags = 0;
        if (sigaction(SIGPROF, &action, NULL) != 0 ||
            setitimer(ITIMER_PROF, &every, NULL) != 0)
                return 1;
        for (int i = 0; i < 30; i++)
                interrupted(i % 10);
        return 0;
}
