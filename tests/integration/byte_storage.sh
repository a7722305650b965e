#!/bin/sh
# SPDX-License-Identifier: MIT
# Structures lie in arrays of bytes: of a file, of a thread, of a frame and in an object.
# Their fields are told by a pointer to them, or left open, but are no bytes; what is read
# byte by byte is.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >storage.c <<'END'
#include <stdint.h>
#include <stdio.h>
enum { COUNT = 2000 };
struct wide {
        uint64_t id;
        double value;
};
struct narrow {
        float x, y;
        int32_t count;
        uint8_t flag;
};
static _Alignas(16) char pool[COUNT * 32];
static _Thread_local _Alignas(16) uint8_t own_pool[COUNT * 16];
static struct wide *wides[COUNT];
static struct narrow *narrows[COUNT];
#define OF(name, type, items, field, result)                      \
        __attribute__((noinline)) static result name(void)        \
        {                                                         \
                result sum = 0;                                   \
                for (int i = 0; i < COUNT; i++)                   \
                        sum += ((const type *)items)[i] field;    \
                return sum;                                       \
        }
OF(pool_value, struct wide *, wides, ->value, double)
OF(pool_id, struct wide *, wides, ->id, uint64_t)
OF(pool_y, struct narrow *, narrows, ->y, float)
OF(pool_count, struct narrow *, narrows, ->count, int32_t)
OF(pool_flag, struct narrow *, narrows, ->flag, uint32_t)
OF(pool_bytes, char, pool, , uint32_t)
OF(own_value, struct wide, own_pool, .value, double)
OF(own_bytes, uint8_t, own_pool, , uint32_t)
__attribute__((noinline)) static double frame(int n)
{
        _Alignas(16) char buffer[COUNT * 16];
        struct narrow *items = (struct narrow *)buffer;
        double sum = 0;
        for (int i = 0; i < COUNT; i++) {
                items[i].x = (float)i;
                items[i].count = n;
        }
        for (int i = 0; i < COUNT; i++)
                sum += items[i * 7 % COUNT].x + (float)items[i].count;
        return sum;
}
int main(int argc, char **argv)
{
        double sum = argv[0][0];
        for (int i = 0; i < COUNT; i++) {
                wides[i] = (struct wide *)(pool + i * 32);
                narrows[i] = (struct narrow *)(pool + i * 32 + 16);
                *wides[i] = ((struct wide *)own_pool)[i] = (struct wide){i, argc};
                *narrows[i] = (struct narrow){1, (float)i, argc, (uint8_t)i};
        }
        for (int i = 0; i < 20; i++)
                sum += pool_value() + (double)pool_id() + pool_y() + pool_count() +
                       pool_flag() + pool_bytes() + own_value() + own_bytes() + frame(i);
        printf("%f\n", sum);
        return 0;
}
END
cat >storage.cc <<'END'
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
END

# said FUNCTION ANSWER...: FUNCTION's samples in storage have each ANSWER, and no other.
said()
{
        function=$1
        shift
        answers=$(sqlite3 -readonly storage.db "SELECT DISTINCT
                CASE WHEN type IS NULL THEN 'open'
                     ELSE replace(type, 'struct ', '') || coalesce('.' || field, '') END
                FROM sample_view WHERE function LIKE '$function%' AND (object LIKE '%pool'
                OR object = 'frame::buffer' OR object = 'ticks') AND op = 'load'
                ORDER BY 1" | tr '\n' ' ')
        for answer; do
                [ "$answers" != "$answer " ] || return 0
        done
        fail "$build: what $function() reads is said to be: $answers"
}

# check SOURCE COMPILER OPTION...
check()
{
        source=$1
        shift
        build=$*
        "$@" -g -o storage "$source"
        record storage $LOADS --period 37 --ldlat 1 -- ./storage
        [ "$source" = storage.c ] || {
                said price tick.price open
                return
        }
        said pool_value wide.value
        said pool_id wide.id
        said pool_y narrow.y
        said pool_count narrow.count
        said pool_flag narrow.flag
        said pool_bytes char 'char open' # clang loads four bytes as one number
        said own_value wide.value open
        said own_bytes 'unsigned char' 'open unsigned char'
        said frame open 'narrow.count narrow.x' 'narrow.count open' 'narrow.x open'
}

for options in -O0 -O2; do
        check storage.c gcc $options
        check storage.cc g++ -std=c++17 $options
        ! command -v clang++ >/dev/null || {
                check storage.c clang $options
                check storage.cc clang++ -std=c++17 $options
        }
done
