/* SPDX-License-Identifier: MIT */
/* The live heap against a reference too simple to be wrong: a searched list. */
#include <malloc.h>

#include "live.h"
#include "unit_test.h"

/* ---- the reference ---- */

enum { MAX_BLOCKS = 100000, SITES = 5 };

struct reference {
        struct heap_block *blocks;
        size_t count;
        struct heap_site sites[SITES];
};

static void reference_open(struct reference *reference)
{
        memset(reference, 0, sizeof(*reference));
        reference->blocks = calloc(MAX_BLOCKS, sizeof(*reference->blocks));
        assert_non_null(reference->blocks);
}

static uint64_t end_of(const struct heap_block *block)
{
        return block->addr + (block->size_bytes ? block->size_bytes : 1);
}

static struct heap_block *reference_find(struct reference *reference, uint64_t addr)
{
        for (size_t i = 0; i < reference->count; i++)
                if (reference->blocks[i].addr <= addr &&
                    addr < end_of(&reference->blocks[i]))
                        return &reference->blocks[i];
        return NULL;
}

static void reference_add(struct reference *reference, const struct heap_block *block)
{
        assert_true(reference->count < MAX_BLOCKS);
        reference->blocks[reference->count++] = *block;
        struct heap_site *site = &reference->sites[block->site];
        if (block->inherited)
                return;
        site->live_bytes += block->size_bytes;
        if (site->live_bytes > site->peak_bytes)
                site->peak_bytes = site->live_bytes;
}

static void reference_remove(struct reference *reference, struct heap_block *block)
{
        if (!block->inherited)
                reference->sites[block->site].live_bytes -= block->size_bytes;
        *block = reference->blocks[--reference->count];
}

/* ---- ended blocks, in any order ---- */

struct ended {
        size_t count;
        uint64_t sum; /* of the addresses, sizes and rows */
};

static void note(struct ended *ended, const struct heap_block *block)
{
        ended->count++;
        ended->sum +=
            block->addr * 31 + block->size_bytes * 7 + (uint64_t)block->allocation_id;
}

static int note_ended(void *context, const struct heap_block *block)
{
        note(context, block);
        return 0;
}

static struct heap_block *reference_overlap(struct reference *reference, uint64_t start,
                                            uint64_t end)
{
        for (size_t i = 0; i < reference->count; i++)
                if (reference->blocks[i].addr < end &&
                    end_of(&reference->blocks[i]) > start)
                        return &reference->blocks[i];
        return NULL;
}

static void reference_begin(struct reference *reference, const struct heap_block *block,
                            struct ended *ended)
{
        struct heap_block *old;
        while ((old = reference_overlap(reference, block->addr, end_of(block)))) {
                note(ended, old);
                reference_remove(reference, old);
        }
        reference_add(reference, block);
        reference->sites[block->site].allocations++;
        reference->sites[block->site].total_bytes += block->size_bytes;
}

static void reference_end_range(struct reference *reference, uint64_t start,
                                uint64_t length, int64_t now_ns, struct ended *ended)
{
        struct heap_block *old;
        while (length && (old = reference_overlap(reference, start, start + length))) {
                struct heap_block left = *old, right = *old;
                note(ended, old);
                reference_remove(reference, old);
                left.start_ns = right.start_ns = now_ns;
                left.allocation_id = right.allocation_id = 0;
                left.size_bytes = start - left.addr;
                right.size_bytes = end_of(&right) - (start + length);
                right.addr = start + length;
                if (left.addr < start)
                        reference_add(reference, &left);
                if (right.size_bytes > 0 && right.size_bytes < (uint64_t)1 << 60)
                        reference_add(reference, &right);
        }
}

/* ---- random histories ---- */

struct heap {
        struct heap_sites *sites;
        struct heap_live *live;
        struct reference reference;
};

static void open_heap(struct heap *heap)
{
        heap->sites = heap_sites_new();
        heap->live = heap_live_new(heap->sites);
        reference_open(&heap->reference);
        for (uint32_t i = 0; i < SITES; i++) {
                uint32_t site;
                assert_ok(heap_sites_find(heap->sites, i, "malloc", &site));
                assert_int_equal(site, i);
        }
}

static void close_heap(struct heap *heap)
{
        heap_live_free(heap->live);
        heap_sites_free(heap->sites);
        free(heap->reference.blocks);
}

static struct heap_block random_block(uint64_t addresses, uint64_t largest)
{
        return (struct heap_block){.addr = 4096 + random_below(addresses),
                                   .size_bytes = random_below(largest),
                                   .start_ns = (int64_t)random_below(1000),
                                   .thread_id = 7,
                                   .site = (uint32_t)random_below(SITES)};
}

static void assert_same_block(const struct heap_block *real,
                              const struct heap_block *wanted)
{
        if (!wanted) {
                assert_null(real);
                return;
        }
        assert_non_null(real);
        assert_int_equal(real->addr, wanted->addr);
        assert_int_equal(real->size_bytes, wanted->size_bytes);
        assert_int_equal(real->start_ns, wanted->start_ns);
        assert_int_equal(real->allocation_id, wanted->allocation_id);
        assert_int_equal(real->site, wanted->site);
        assert_int_equal(real->inherited, wanted->inherited);
}

/* Counts live blocks: copies the heap and ends all blocks of the copy. */
static size_t count_live(struct heap_live *live)
{
        struct heap_live *copy = heap_live_copy(live);
        struct ended ended = {0, 0};
        assert_non_null(copy);
        assert_ok(heap_live_end_range(copy, 0, UINT64_MAX, 0, note_ended, &ended));
        heap_live_free(copy);
        return ended.count;
}

static struct heap_block *find(struct heap_live *live, uint64_t addr)
{
        struct heap_block *block;
        assert_int_equal(heap_live_find(live, addr, &block), 0);
        assert_int_equal(heap_live_holds(live, addr), block != NULL);
        return block;
}

static void assert_same_heap(struct heap *heap)
{
        struct reference *reference = &heap->reference;
        assert_int_equal(count_live(heap->live), reference->count);
        for (size_t i = 0; i < reference->count; i++)
                assert_same_block(find(heap->live, reference->blocks[i].addr),
                                  &reference->blocks[i]);
        for (size_t i = 0; i < SITES; i++) {
                const struct heap_site *site = heap_sites_at(heap->sites, i);
                assert_int_equal(site->allocations, reference->sites[i].allocations);
                assert_int_equal(site->total_bytes, reference->sites[i].total_bytes);
                assert_int_equal(site->live_bytes, reference->sites[i].live_bytes);
                assert_int_equal(site->peak_bytes, reference->sites[i].peak_bytes);
        }
}

static void one_step(struct heap *heap, uint64_t addresses, uint64_t largest)
{
        struct ended real = {0, 0}, wanted = {0, 0};
        struct heap_block block = random_block(addresses, largest), out;
        uint64_t addr = 4096 + random_below(addresses);
        struct heap_block *known;
        switch (random_below(8)) {
        case 0:
        case 1:
        case 2:
                reference_begin(&heap->reference, &block, &wanted);
                assert_ok(heap_live_begin(heap->live, &block, note_ended, &real));
                break;
        case 3:
        case 4:
                if (heap->reference.count)
                        addr = heap->reference.blocks[random_below(heap->reference.count)]
                                   .addr;
                known = reference_find(&heap->reference, addr);
                if (known && known->addr == addr) {
                        assert_int_equal(heap_live_end(heap->live, addr, &out), 1);
                        assert_same_block(&out, known);
                        reference_remove(&heap->reference, known);
                } else {
                        assert_int_equal(heap_live_end(heap->live, addr, &out), 0);
                }
                break;
        case 5:
                reference_end_range(&heap->reference, addr, block.size_bytes, 5, &wanted);
                assert_ok(heap_live_end_range(heap->live, addr, block.size_bytes, 5,
                                              note_ended, &real));
                break;
        default:
                known = reference_find(&heap->reference, addr);
                assert_same_block(find(heap->live, addr), known);
                if (known)
                        find(heap->live, addr)->allocation_id = known->allocation_id =
                            (int64_t)random_below(1000);
        }
        assert_int_equal(real.count, wanted.count);
        assert_int_equal(real.sum, wanted.sum);
}

TEST(random_histories)
{
        /* Crowded in one leaf and in many; sparse; blocks of nothing; one large block. */
        static const uint64_t shapes[][2] = {
            {2000, 60}, {60000, 40}, {10000000, 50}, {500, 1}, {64, 500}};
        for (size_t i = 0; i < LENGTH(shapes); i++) {
                struct heap heap;
                random_state = i + 1;
                open_heap(&heap);
                for (int step = 0; step < 30000; step++) {
                        one_step(&heap, shapes[i][0], shapes[i][1] + 1);
                        if (step % 1000 == 0)
                                assert_same_heap(&heap);
                }
                assert_same_heap(&heap);
                close_heap(&heap);
        }
}

/* Fills the tree to some levels, empties it in another order, again and again. */
TEST(growing_and_shrinking)
{
        enum { BLOCKS = 60000, STRIDE = 7919 /* prime to BLOCKS */ };
        struct heap heap;
        open_heap(&heap);
        for (uint64_t round = 0; round < 3; round++) {
                for (uint64_t i = 0; i < BLOCKS; i++) {
                        uint64_t n = round == 0 ? i : i * STRIDE % BLOCKS;
                        struct heap_block block = {.addr = 0x1000 + 32 * n,
                                                   .size_bytes = 16 + n % 16};
                        assert_ok(heap_live_begin(heap.live, &block, note_ended, NULL));
                }
                assert_int_equal(count_live(heap.live), BLOCKS);
                for (uint64_t i = 0; i < BLOCKS; i++) {
                        uint64_t n = round == 1 ? i : i * STRIDE % BLOCKS;
                        struct heap_block block;
                        assert_null(find(heap.live, 0x1000 + 32 * n + 16 + n % 16));
                        assert_int_equal(
                            heap_live_end(heap.live, 0x1000 + 32 * n, &block), 1);
                        assert_int_equal(block.size_bytes, 16 + n % 16);
                        assert_null(find(heap.live, 0x1000 + 32 * n));
                }
                assert_int_equal(count_live(heap.live), 0);
        }
        assert_int_equal(heap_sites_at(heap.sites, 0)->live_bytes, 0);
        assert_int_equal(heap_sites_at(heap.sites, 0)->allocations, 3 * BLOCKS);
        close_heap(&heap);
}

/* A copy of PARENT with a separate reference and the same sites. */
static struct heap fork_heap(const struct heap *parent)
{
        struct heap child = *parent;
        child.live = heap_live_copy(parent->live);
        assert_non_null(child.live);
        reference_open(&child.reference);
        for (size_t i = 0; i < parent->reference.count; i++) {
                child.reference.blocks[i] = parent->reference.blocks[i];
                child.reference.blocks[i].allocation_id = 0;
                child.reference.blocks[i].inherited = true;
        }
        child.reference.count = parent->reference.count;
        memcpy(child.reference.sites, parent->reference.sites,
               sizeof(child.reference.sites));
        return child;
}

static void close_child(struct heap *child)
{
        heap_live_free(child->live);
        free(child->reference.blocks);
}

/* Parents, children and children's children: none sees another's changes. */
TEST(what_one_changes_no_relative_sees)
{
        enum { RELATIVES = 6 };
        struct heap heaps[RELATIVES];
        size_t count = 1;
        random_state = 17;
        open_heap(&heaps[0]);
        for (int step = 0; step < 30000; step++) {
                size_t at = random_below(count);
                one_step(&heaps[at], 30000, 40);
                for (size_t i = 0; i < count; i++) /* they share the sites */
                        memmove(heaps[i].reference.sites, heaps[at].reference.sites,
                                sizeof(heaps[i].reference.sites));
                if (step % 300 == 299 && count < RELATIVES) {
                        heaps[count] = fork_heap(&heaps[at]);
                        count++;
                } else if (step % 300 == 299) {
                        close_child(&heaps[--count]);
                }
                if (step % 1500 == 0)
                        for (size_t i = 0; i < count; i++)
                                assert_same_heap(&heaps[i]);
        }
        while (count > 1)
                close_child(&heaps[--count]);
        close_heap(&heaps[0]);
}

/* A server forks for each request. A copy takes memory for changes, not for the heap. */
TEST(copies_share_what_none_has_changed)
{
        enum { BLOCKS = 60000, COPIES = 200 };
        static struct heap_live *copies[COPIES];
        struct heap heap;
        open_heap(&heap);
        struct heap_block block = {.size_bytes = 16};
        for (uint64_t i = 0; i < BLOCKS; i++) {
                block.addr = 0x1000 + 32 * i;
                assert_ok(heap_live_begin(heap.live, &block, note_ended, NULL));
        }
        size_t before = mallinfo2().uordblks;
        for (uint64_t i = 0; i < COPIES; i++) {
                copies[i] = heap_live_copy(heap.live);
                assert_non_null(copies[i]);
                assert_int_equal(heap_live_end(copies[i], 0x1000 + 32 * i, &block), 1);
        }
        /* A node on each of three levels, with room: a whole copy has 400 times that. */
        assert_true(mallinfo2().uordblks - before < COPIES * 16384);
        for (uint64_t i = 0; i < COPIES; i++) {
                assert_int_equal(count_live(copies[i]), BLOCKS - 1);
                heap_live_free(copies[i]);
        }
        assert_int_equal(count_live(heap.live), BLOCKS);
        close_heap(&heap);
}

TEST(blocks_at_the_end_of_the_address_space)
{
        struct heap heap;
        open_heap(&heap);
        struct heap_block block = {.addr = UINT64_MAX - 15, .size_bytes = 4096};
        assert_ok(heap_live_begin(heap.live, &block, note_ended, NULL));
        assert_non_null(find(heap.live, UINT64_MAX));
        assert_null(find(heap.live, 0));
        assert_null(find(heap.live, UINT64_MAX - 16));
        close_heap(&heap);
}

static int refuse(void *context, const struct heap_block *block)
{
        return -EIO;
}

TEST(an_error_of_the_caller_is_passed_on_and_the_heap_is_right)
{
        struct heap heap;
        open_heap(&heap);
        struct heap_block block = {.addr = 100, .size_bytes = 10};
        assert_ok(heap_live_begin(heap.live, &block, refuse, NULL));
        assert_int_equal(heap_live_begin(heap.live, &block, refuse, NULL), -EIO);
        assert_int_equal(count_live(heap.live), 1);
        assert_int_equal(heap_live_end_range(heap.live, 104, 2, 5, refuse, NULL), -EIO);
        assert_int_equal(count_live(heap.live), 2);
        assert_int_equal(heap_sites_at(heap.sites, 0)->live_bytes, 8);
        close_heap(&heap);
}

/* A block lives while it is resized, unless a new block begins at its address. */
TEST(a_block_lives_until_it_has_been_resized)
{
        struct heap heap;
        open_heap(&heap);
        struct heap_block block = {.addr = 0x1000, .size_bytes = 64}, ended;
        struct ended unseen = {0};
        assert_ok(heap_live_resize(heap.live, 0x1000, 7));
        assert_ok(heap_live_end_resized(heap.live, 0x1000, 7, &ended));

        assert_ok(heap_live_begin(heap.live, &block, note_ended, &unseen));
        assert_ok(heap_live_end_resized(heap.live, 0x1000, 7, &ended));
        assert_ok(heap_live_resize(heap.live, 0x1000, 7));
        assert_true(heap_live_holds(heap.live, 0x103f));
        assert_ok(heap_live_end_resized(heap.live, 0x1000, 8, &ended));
        assert_int_equal(heap_live_end_resized(heap.live, 0x1000, 7, &ended), 1);
        assert_false(heap_live_holds(heap.live, 0x103f));

        assert_ok(heap_live_begin(heap.live, &block, note_ended, &unseen));
        assert_ok(heap_live_resize(heap.live, 0x1000, 7));
        assert_ok(heap_live_begin(heap.live, &block, note_ended, &unseen));
        assert_ok(heap_live_end_resized(heap.live, 0x1000, 7, &ended));
        assert_true(heap_live_holds(heap.live, 0x1000));
        close_heap(&heap);
}

TEST(sites_are_contexts_and_functions)
{
        struct heap_sites *sites = heap_sites_new();
        char function[] = "malloc"; /* not the same pointer as "malloc" */
        uint32_t site, again;
        for (int64_t stack = 0; stack < 10000; stack++) {
                assert_ok(heap_sites_find(sites, stack, "malloc", &site));
                assert_ok(heap_sites_find(sites, stack, "calloc", &again));
                assert_int_not_equal(site, again);
                assert_ok(heap_sites_find(sites, stack, function, &again));
                assert_int_equal(site, again);
        }
        assert_int_equal(heap_sites_count(sites), 20000);
        assert_int_equal(heap_sites_at(sites, site)->stack_id, 9999);
        heap_sites_free(sites);
}
