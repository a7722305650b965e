/* SPDX-License-Identifier: MIT */
/* The same for storage inside an object. */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
struct tick {
        int64_t time;
        float price, volume;
};
template <class T, size_t N> class fixed {
        alignas(T) std::byte memory[N * sizeof(T)];
        size_t count = 0;

public:
        T *begin() { return std::launder(reinterpret_cast<T *>(memory)); }
        T *end() { return begin() + count; }
        void add(const T &item) { new (begin() + count++) T(item); }
};
static fixed<tick, 2000> ticks;
__attribute__((noinline)) static float price()
{
        float sum = 0;
        for (tick &item : ticks)
                sum += item.price;
        return sum;
}
int main()
{
        float sum = 0;
        for (int i = 0; i < 2000; i++)
                ticks.add(tick{i, float(i), 1});
        for (int i = 0; i < 40; i++)
                sum += price();
        std::printf("%f\n", double(sum));
}
