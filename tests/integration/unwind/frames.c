/* SPDX-License-Identifier: MIT */
/* Frames of all shapes: deep, realigned, of a size known only at run time. */
static __attribute__((noinline)) long burn(long steps)
{
        volatile long sum = 0;
        for (long i = 0; i < steps; i++)
                sum += i * i;
        return sum;
}

__attribute__((noinline)) long down(int depth, long steps)
{
        volatile char room[64];
        room[steps % 64] = 1;
        if (depth == 0)
                return burn(steps);
        return down(depth - 1, steps) + room[0];
}

__attribute__((noinline)) long realigned(long steps)
{
        _Alignas(64) volatile long room[16];
        room[steps % 16] = steps;
        return burn(steps) + room[1];
}

__attribute__((noinline)) long of_any_size(int size, long steps)
{
        volatile char room[size];
        room[size - 1] = 1;
        return burn(steps) + room[0];
}

int main(void)
{
        long sum = 0;
        for (int i = 0; i < 200; i++) {
                sum += down(i % 40, 200000);
                sum += realigned(200000);
                sum += of_any_size(i + 1, 200000);
        }
        return sum == 1;
}
