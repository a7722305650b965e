/* SPDX-License-Identifier: MIT */
/* Pages with a header and a union of arrays, or rows in bytes. The stride of an index shows the
 * array, also in a walk from page to page. A row's pointer gives the type of the bytes. */
enum { PAGES = 600, PAGE_BYTES = 1024, LEAVES = 40, ROWS = 20, READS = 12000 };
struct branch { uint64_t from; uint32_t child, sum; };
struct leaf { uint64_t key; uint32_t row; uint16_t version; uint8_t dead, flags; double value; };
struct page {
        uint64_t number, count;
        union {
                struct { uint64_t first; struct branch items[62]; } inner;
                struct { uint64_t last; struct leaf items[LEAVES]; } outer;
                uint8_t raw[PAGE_BYTES - 16];
        } u;
};
struct row { uint32_t id; uint16_t width, length; int64_t balance; char text[16]; };
static volatile uint64_t result;
static struct row *all[PAGES * ROWS];
static unsigned used[PAGES], after[PAGES];

static __attribute__((noinline)) void search(const struct page *pages)
{
        uint64_t found = 0;
        for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3) {
                const struct page *page = &pages[at % PAGES];
                unsigned low = 0, high = LEAVES;
                while (low < high) {
                        unsigned middle = (low + high) / 2;
                        if (page->u.outer.items[middle].key < (at & 255))
                                low = middle + 1;
                        else
                                high = middle;
                }
                found += low;
        }
        result = found;
}

static __attribute__((noinline)) void walk(const struct page *pages)
{
        unsigned at = 1;
        const struct page *page = &pages[at];
        double sum = 0;
        for (unsigned i = 0; i < PAGES; i++) {
                for (unsigned k = 0; k < used[at]; k++) {
                        const struct leaf *leaf = &page->u.outer.items[k];
                        sum += leaf->value;
                }
                page = &pages[at = after[at]];
        }
        result = (uint64_t)sum;
}

static __attribute__((noinline)) void rows(struct row *const *rows)
{
        int64_t sum = 0;
        for (unsigned i = 0, at = 1; i < READS; i++, at = at * 5 + 3)
                sum += rows[at % (PAGES * ROWS)]->balance;
        result = (uint64_t)sum;
}

int main(void)
{
        char *memory = calloc(PAGES, PAGE_BYTES);
        struct page *pages = (struct page *)memory;
        for (unsigned i = 0; i < PAGES; i++) {
                used[i] = LEAVES;
                after[i] = (i * 7 + 1) % PAGES;
                for (unsigned k = 0; k < LEAVES; k++)
                        pages[i].u.outer.items[k].key = k * 8;
        }
        for (int i = 0; i < 4; i++) {
                search(pages);
                walk(pages);
        }
        struct page *kept = calloc(PAGES, sizeof(struct page));
        for (unsigned i = 0; i < PAGES * ROWS; i++) {
                struct page *page = &kept[i / ROWS];
                struct row *row = (struct row *)(page->u.raw + 8 + i % ROWS * 40);
                page->count++;
                row->balance = row->id = i;
                all[i] = row;
        }
        for (int i = 0; i < 4; i++)
                rows(all);
        return 0;
}
