#include <stdlib.h>
static inline __attribute__((always_inline)) long count_up(int times)
{
        volatile long table[4096] = {0};
        long sum = 0;
        for (int i = 0; i < times; i++)
                sum += table[(unsigned)rand() % 4096]++;
        return sum;
}
int main(void)
{
        volatile long own[64];
        long sum = 0;
        for (int i = 0; i < 64000; i++)
                sum += own[i % 64] = i;
        return count_up(100000) + sum == 7;
}
