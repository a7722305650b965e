/* SPDX-License-Identifier: MIT */
/* memcpy and memcmp of the C library read blocks of unknown allocation. Their arguments give
 * the type, but only of memory that these point to. A function with the name of a block's
 * content makes the block. */
enum { COUNT = 400, ITEMS = 256 };
struct record { long key; int left, right; double weight; };
struct large { long id; char name[56]; double weights[100]; };
static volatile long sink;
__attribute__((noinline)) void *make(size_t bytes)
{
        void *block = malloc(bytes);
        memset(block, 1, bytes);
        return block;
}
#define BLOCKS(name, bytes) \
        __attribute__((noinline)) static void name(void **blocks) \
        { \
                for (int i = 0; i < COUNT; i++) \
                        blocks[i] = make(bytes); \
                sink++; \
        }
BLOCKS(ints, ITEMS * sizeof(int))
BLOCKS(doubles, ITEMS * sizeof(double))
BLOCKS(texts, 1000)
BLOCKS(large, sizeof(struct large))
BLOCKS(records, ITEMS * sizeof(struct record))
BLOCKS(pairs, 2 * sizeof(struct large))
__attribute__((noinline)) static void copy_ints(int *to, const int *from)
{
        memcpy(to, from, ITEMS * sizeof(*to));
}
__attribute__((noinline)) static int same_doubles(const double *a, const double *b)
{
        return memcmp(a, b, ITEMS * sizeof(*a)) == 0;
}
__attribute__((noinline)) static int same_texts(const char *a, const char *b)
{
        return memcmp(a, b, 1000) == 0;
}
__attribute__((noinline)) static void copy_large(struct large *to, const struct large *from)
{
        memcpy(to, from, sizeof(*to));
}
/* The pointers are to bytes, but the memory is not. */
__attribute__((noinline)) static int same_bytes(const char *a, const char *b)
{
        return memcmp(a, b, ITEMS * sizeof(struct record)) == 0;
}
__attribute__((noinline)) static long keys(const struct record *records)
{
        long sum = 0;
        for (int i = 0; i < ITEMS; i++)
                sum += records[i].key;
        return sum;
}
int main(void)
{
        static void *a[COUNT], *b[COUNT], *c[COUNT], *d[COUNT], *e[COUNT], *f[COUNT];
        static struct large large_copy;
        static int int_copy[ITEMS];
        ints(a);
        doubles(b);
        texts(c);
        large(d);
        records(e);
        pairs(f);
        for (int i = 1; i < COUNT; i++) {
                copy_ints(int_copy, a[i]);
                sink += same_doubles(b[i - 1], b[i]);
                sink += same_texts(c[i - 1], c[i]);
                copy_large(&large_copy, d[i]);
                sink += same_bytes(e[i - 1], e[i]);
                sink += keys(e[i]);
                copy_large(&large_copy, (struct large *)f[i] + i % 2);
        }
        return sink == 42;
}
