/* SPDX-License-Identifier: MIT */
/* Blocks that begin with a header, of allocators that ask for no items. A register that
 * contains calloc()'s item size here contains the header's size, by chance or as an
 * alignment. And items that come from calloc(). */
#include "series.h"

enum { ITEMS = 1000, ROUNDS = 12, BLOCKS = 4 };

static volatile long result;

static void begin_series(struct series *series, const char *site)
{
        series->count = ITEMS;
        series->step = 1;
        truth_object("heap", site, "struct series", series, sizeof(*series), 1, "*");
        truth_object("heap", site, "long", series + 1, 8, 2 * ITEMS, "*");
}

static size_t series_bytes(void)
{
        return sizeof(struct series) + 2 * ITEMS * sizeof(long);
}

/* ---- a register that was left with a number ---- */

ONE_FUNCTION struct series *make_left_over(size_t bytes)
{
        __asm__ volatile("mov %1, %%rsi"
                         : "+r"(bytes)
                         : "i"(sizeof(struct series))
                         : "rsi");
        struct series *series = malloc(bytes);

        begin_series(series, "make_left_over at ");
        return series;
}

/* ---- an alignment ---- */

ONE_FUNCTION void *arena_alloc(size_t bytes, size_t align)
{
        return aligned_alloc(align, bytes + (-bytes & (align - 1)));
}

ONE_FUNCTION struct series *make_aligned(size_t bytes)
{
        struct series *series = arena_alloc(bytes, 16);

        begin_series(series, "make_aligned at ");
        return series;
}

/* ---- items of another size that a wrapper asks for ---- */

ONE_FUNCTION void *zalloc(size_t bytes)
{
        return calloc((bytes + 15) / 16, 16);
}

ONE_FUNCTION struct series *make_rounded(size_t bytes)
{
        struct series *series = zalloc(bytes);

        begin_series(series, "make_rounded at ");
        return series;
}

/* ---- bytes that are rounded up to units of the header's size ---- */

ONE_FUNCTION struct series *make_units(size_t bytes)
{
        struct series *series = calloc((bytes + 15) / 16, 16);

        begin_series(series, "make_units at ");
        return series;
}

/* ---- items ---- */

struct item {
        long key;
        long value;
};

/* The pointer does not show that there are items behind the first. */
ADDS(long, add_values, (const long *at, const long *end),
     (; at < end; at += sizeof(struct item) / sizeof(*at)), *at)

ONE_FUNCTION struct item *make_items(size_t count)
{
        struct item *items = calloc(count, sizeof(*items));

        for (size_t i = 0; i < count; i++)
                items[i].value = (long)i;
        TRUTH_HEAP("make_items", "struct item", items, ITEMS);
        return items;
}

int main(void)
{
        truth_open();
        TRUTH_FIELDS(series, count, step);
        TRUTH_FIELDS(item, key, value);

        struct series *all[] = {make_left_over(series_bytes()),
                                make_aligned(series_bytes()),
                                make_rounded(series_bytes()), make_units(series_bytes())};
        struct item *items = make_items(ITEMS);

        truth_close();
        for (int i = 0; i < ROUNDS; i++) {
                for (int s = 0; s < BLOCKS; s++) {
                        result += add_series(all[s]);
                        for (int at = 0; at < ITEMS; at++)
                                result += pick_series(all[s], at);
                }
                result += add_values(&items->value, (long *)(items + ITEMS));
        }
        return result == 1;
}
