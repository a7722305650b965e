// SPDX-License-Identifier: MIT
// Work in functions that have a personality, in handlers, and while the stack is unwound.
#include <stdexcept>
#include <string>
#include <vector>

static __attribute__((noinline)) long burn(long steps)
{
        volatile long sum = 0;
        for (long i = 0; i < steps; i++)
                sum = sum + i * i;
        return sum;
}

struct guard {
        std::string name;
        ~guard()
        {
                burn(100000 + (long)name.size());
        }
};

__attribute__((noinline)) void thrower(int depth)
{
        guard held{"a name that is too long to lie in the string itself"};
        if (depth == 0)
                throw std::runtime_error("at the bottom");
        burn(20000);
        thrower(depth - 1);
}

struct shape {
        virtual ~shape() = default;
        virtual long work(const std::vector<long> &numbers) const = 0;
};

struct square : shape {
        long work(const std::vector<long> &numbers) const override
        {
                long sum = 0;
                for (long number : numbers)
                        sum += burn(number);
                return sum;
        }
};

int main()
{
        long sum = 0;
        const shape &one = square();
        for (int i = 0; i < 100; i++)
                try {
                        sum += one.work({20000, 30000, 40000});
                        thrower(i % 12);
                } catch (const std::exception &error) {
                        sum += burn(100000) + error.what()[0];
                }
        return sum == 1;
}
