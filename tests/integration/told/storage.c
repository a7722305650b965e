/* SPDX-License-Identifier: MIT */
/* Structures lie in arrays of bytes: in a file, a thread and a frame. A pointer gives their
 * fields, or they are unresolved, but never bytes, unless they are read byte by byte. */
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
