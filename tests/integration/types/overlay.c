/* SPDX-License-Identifier: MIT */
/* Blocks and mappings that begin with a header whose size divides theirs. Headers could
 * therefore fill them, but other data of the same kinds and sizes lies behind. And blocks
 * that whole items do fill. */
#include <string.h>
#include <sys/mman.h>

#include "series.h"

enum { ITEMS = 1000, ROUNDS = 8, PAGE_BYTES = 4096, PAGES = 64 };

static volatile long result;

#define MAP(bytes)                                                                       \
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

/* ---- entries behind a header, by an offset that it holds ---- */

struct table_header {
        unsigned magic[2];
        unsigned offset;
        unsigned count;
};

struct table_entry {
        unsigned key;
        unsigned value;
        long weight;
};

READS long add_mapped(struct table_header *header)
{
        struct table_entry *entries =
            (struct table_entry *)((char *)header + header->offset);
        long sum = 0;

        for (unsigned i = 0; i < header->count; i++)
                sum += entries[i].value + entries[i].weight;
        return sum;
}

/* Loads the offset again for each entry, as if the mapping might move. */
READS long find_mapped(struct table_header *header, unsigned key)
{
        long sum = 0;

        for (unsigned i = 0; i < header->count; i++) {
                unsigned at = (key * (i + 1)) % header->count;
                struct table_entry *entry =
                    (struct table_entry *)((char *)header + header->offset) + at;

                if (entry->key != key)
                        sum += entry->value;
        }
        return sum;
}

ONE_FUNCTION struct table_header *make_mapped(void)
{
        struct table_header *header = MAP(PAGES * PAGE_BYTES);

        if ((void *)header == MAP_FAILED)
                exit(3);
        header->offset = 64;
        header->count = ITEMS;
        truth_object("mmap", "make_mapped at ", "struct table_header", header,
                     sizeof(*header), 1, "*");
        truth_object("mmap", "make_mapped at ", "struct table_entry",
                     (char *)header + header->offset, sizeof(struct table_entry), ITEMS,
                     "*");
        return header;
}

/* ---- arrays of the same kind and size as the header's fields ---- */

ONE_FUNCTION struct series *make_series(void)
{
        struct series *series = calloc(1, sizeof(*series) + 2 * ITEMS * sizeof(long));

        series->count = ITEMS;
        series->step = 1;
        TRUTH_HEAP("make_series", "struct series", series, 1);
        TRUTH_ITEMS("make_series", long, series + 1, 2 * ITEMS);
        return series;
}

/* ---- structures of the header's size behind it ---- */

struct ring_head {
        unsigned first;
        unsigned used;
        long lost;
};

struct ring_slot {
        unsigned kind;
        unsigned length;
        long time;
};

READS long add_ring(struct ring_head *ring)
{
        struct ring_slot *slots = (struct ring_slot *)(ring + 1);
        long sum = ring->lost;

        for (unsigned i = 0; i < ring->used; i++)
                sum += slots[i].length + slots[i].time;
        return sum;
}

/* Twice as large as the header. */
struct wide_slot {
        unsigned kind;
        unsigned length;
        long time;
        long other[2];
};

READS long add_wide(struct ring_head *ring)
{
        struct wide_slot *slots = (struct wide_slot *)(ring + 1);
        long sum = ring->lost;

        for (unsigned i = 0; i < ring->used; i++)
                sum += slots[i].length + slots[i].time;
        return sum;
}

READS long pick_wide(struct ring_head *ring, unsigned at)
{
        return ((struct wide_slot *)(ring + 1))[at].time;
}

/* Where the allocation says nothing. */
ONE_FUNCTION void *get_bytes(size_t bytes)
{
        char *block = malloc(bytes);

        for (size_t i = 0; i < bytes; i++)
                block[i] = 1;
        return block;
}

ONE_FUNCTION struct ring_head *make_bytes(void)
{
        struct ring_head *ring =
            get_bytes(sizeof(*ring) + ITEMS * sizeof(struct wide_slot));

        TRUTH_HEAP("get_bytes", "struct ring_head", ring, 1);
        TRUTH_ITEMS("get_bytes", struct wide_slot, ring + 1, ITEMS);
        return ring;
}

#define MAKE_RING(make, type)                                                            \
        ONE_FUNCTION struct ring_head *make(void)                                        \
        {                                                                                \
                struct ring_head *ring =                                                 \
                    calloc(1, sizeof(*ring) + ITEMS * sizeof(type));                     \
                                                                                         \
                ring->used = ITEMS;                                                      \
                TRUTH_ITEMS(#make, struct ring_head, ring, 1);                           \
                TRUTH_ITEMS(#make, type, ring + 1, ITEMS);                               \
                return ring;                                                             \
        }

MAKE_RING(make_ring, struct ring_slot)
MAKE_RING(make_wide, struct wide_slot)

/* ---- a page with slots from its start and rows from its end ---- */

struct page {
        unsigned short used;
        unsigned short free;
        unsigned short offsets[];
};

struct row {
        short key;
        short value;
        int next;
};

READS long add_rows(struct page *pages)
{
        long sum = 0;

        for (int p = 0; p < PAGES; p++) {
                struct page *page = (struct page *)((char *)pages + p * PAGE_BYTES);

                for (unsigned i = 0; i < page->used; i++) {
                        struct row *row = (struct row *)((char *)page + page->offsets[i]);

                        sum += row->value + row->next;
                }
        }
        return sum;
}

ONE_FUNCTION struct page *make_pages(void)
{
        enum { ROWS = PAGE_BYTES / 16 };
        struct page *pages = calloc(PAGES, PAGE_BYTES);

        for (int p = 0; p < PAGES; p++) {
                struct page *page = (struct page *)((char *)pages + p * PAGE_BYTES);
                char *rows = (char *)page + PAGE_BYTES - ROWS * sizeof(struct row);

                page->used = ROWS;
                for (int i = 0; i < ROWS; i++)
                        page->offsets[i] =
                            (unsigned short)(PAGE_BYTES -
                                             (size_t)(i + 1) * sizeof(struct row));
                truth_object("heap", "make_pages at ", "struct page", page,
                             offsetof(struct page, offsets) + ROWS * 2, 1, "*");
                TRUTH_ITEMS("make_pages", struct row, rows, ROWS);
        }
        return pages;
}

/* ---- whole items ---- */

struct item {
        unsigned key;
        unsigned next;
        long value;
};

READS long walk_items(struct item *items)
{
        long sum = 0;
        unsigned at = 0;

        do {
                sum += items[at].value;
                at = items[at].next;
        } while (at);
        return sum;
}

ADDS(long, add_items, (const struct item *items),
     (const struct item *item = items; item < items + ITEMS; item++),
     item->key + item->value)

static void fill_items(struct item *items)
{
        for (unsigned i = 0; i < ITEMS; i++) {
                items[i].next = (i + 7) % ITEMS;
                items[i].value = i;
        }
}

ONE_FUNCTION struct item *make_mapped_items(void)
{
        struct item *items = MAP(ITEMS * sizeof(*items));

        if ((void *)items == MAP_FAILED)
                exit(3);
        fill_items(items);
        truth_object("mmap", "make_mapped_items at ", "struct item", items,
                     sizeof(*items), ITEMS, "*");
        return items;
}

ONE_FUNCTION struct item *make_items(void)
{
        struct item *items = malloc(ITEMS * sizeof(*items));

        fill_items(items);
        TRUTH_HEAP("make_items", "struct item", items, ITEMS);
        return items;
}

static void write_fields(void)
{
        TRUTH_ARRAY(table_header, magic);
        TRUTH_FIELDS(table_header, offset, count);
        TRUTH_FIELDS(table_entry, key, value, weight);
        TRUTH_FIELDS(series, count, step);
        TRUTH_FIELDS(ring_head, first, used, lost);
        TRUTH_FIELDS(ring_slot, kind, length, time);
        TRUTH_FIELDS(wide_slot, kind, length, time);
        TRUTH_ARRAY(wide_slot, other);
        TRUTH_FIELDS(page, used, free);
        truth_field("struct page", "offsets[]", offsetof(struct page, offsets),
                    PAGE_BYTES, "");
        TRUTH_FIELDS(row, key, value, next);
        TRUTH_FIELDS(item, key, next, value);
}

int main(void)
{
        truth_open();
        write_fields();

        struct table_header *mapped = make_mapped();
        struct series *series = make_series();
        struct ring_head *ring = make_ring(), *wide = make_wide();
        struct ring_head *bytes = make_bytes();
        struct page *pages = make_pages();
        struct item *mapped_items = make_mapped_items(), *items = make_items();

        truth_close();
        for (int i = 0; i < ROUNDS; i++) {
                result += add_mapped(mapped) + find_mapped(mapped, 7);
                result += add_series(series);
                for (int at = 0; at < ITEMS; at++)
                        result +=
                            pick_series(series, at) + pick_wide(bytes, (unsigned)at);
                result += add_ring(ring) + add_wide(wide) + add_rows(pages);
                result += walk_items(mapped_items) + walk_items(items);
                result += add_items(mapped_items) + add_items(items);
        }
        return result == 1;
}
