/* SPDX-License-Identifier: MIT */
/* Time goes by in the code that the kernel maps into processes. */
#include <time.h>

__attribute__((noinline)) long ask(long times)
{
        struct timespec now;
        long sum = 0;
        for (long i = 0; i < times; i++) {
                clock_gettime(CLOCK_MONOTONIC, &now);
                sum += now.tv_nsec;
        }
        return sum;
}

__attribute__((noinline)) long around(long times)
{
        volatile char room[100];
        room[times % 100] = 1;
        return ask(times) + room[0];
}

int main(void)
{
        return around(8000000) == 1;
}
