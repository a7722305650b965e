/* SPDX-License-Identifier: MIT */
/* A 'char *' points to a block with numbers of all sizes. A vector of such numbers is no
 * 'char'. A vector of bytes is, if the code computes with each byte. */
enum { BYTES = 1 << 18 };
static char *memory;
static volatile uint64_t result;
static uint64_t copy[BYTES / 8];
#define AS(type) ((const type *)(const void *)memory)
__attribute__((noinline)) static uint64_t or_of_8(void)
{
        uint64_t all = 0;
        for (int i = 0; i < BYTES / 8; i++)
                all |= AS(uint64_t)[i];
        return all;
}
__attribute__((noinline)) static uint32_t sum_of_2(void)
{
        uint32_t sum = 0;
        for (int i = 0; i < BYTES / 2; i++)
                sum += AS(uint16_t)[i];
        return sum;
}
__attribute__((noinline)) static uint64_t gather_of_8(void)
{
        uint64_t sum = 0;
        for (int i = 0; i < BYTES / 8; i++)
                sum += AS(uint64_t)[i * 17 % (BYTES / 8)];
        return sum;
}
__attribute__((noinline)) static void swap_of_8(void)
{
        for (int i = 0; i < BYTES / 8; i += 2) {
                copy[i] = AS(uint64_t)[i + 1];
                copy[i + 1] = AS(uint64_t)[i];
        }
}
__attribute__((noinline)) static uint32_t sum_of_1(void)
{
        uint32_t sum = 0;
        for (int i = 0; i < BYTES; i++)
                sum += memory[i];
        return sum;
}
int main(void)
{
        memory = calloc(BYTES, 1);
        for (int i = 0; i < 20; i++) {
                result += or_of_8() + sum_of_2() + gather_of_8() + sum_of_1();
                swap_of_8();
                result += copy[i];
        }
        return 0;
}
