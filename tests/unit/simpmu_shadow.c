/* SPDX-License-Identifier: MIT */
/* Blocks without memory get addresses as malloc gives them. The truth is malloc. */
#include "model/hot.h"
#include "model/memory/shadow.h"
#include "unit_test.h"

static struct shadow shadow;

static void *allocate(size_t bytes)
{
        return calloc(1, bytes);
}

static void begin(void)
{
        shadow_init(&shadow, 1ull << 40, 1ull << 40, allocate);
}

#ifndef __SANITIZE_ADDRESS__ /* brings another malloc */

/* Blocks of a size that no other code uses follow each other in both heaps. */
TEST(small_blocks_are_as_far_apart)
{
        static const size_t sizes[] = {1000, 2008, 40, 24, 72};
        begin();
        for (size_t i = 0; i < LENGTH(sizes); i++) {
                char *first = malloc(sizes[i]), *second = malloc(sizes[i]);
                const uint64_t one = shadow_take(&shadow, sizes[i], 8);
                const uint64_t other = shadow_take(&shadow, sizes[i], 8);
                assert_int_equal(other - one, second - first);
                free(second);
                free(first);
        }
}

TEST(a_freed_block_is_next)
{
        char *first = malloc(1000);
        const uint64_t one = (begin(), shadow_take(&shadow, 1000, 8));
        const uintptr_t before = (uintptr_t)first;
        free(first);
        shadow_give(&shadow, one, 1000, 8);
        first = malloc(1000);
        assert_int_equal(shadow_take(&shadow, 1000, 8) - one, (uintptr_t)first - before);
        free(first);
}

TEST(large_blocks_have_their_pages)
{
        const uint64_t page = 1u << PAGE_SHIFT;
        char *block = malloc(SHADOW_LARGE_BYTES);
        const uint64_t one = (begin(), shadow_take(&shadow, SHADOW_LARGE_BYTES, 8));
        const uint64_t other = shadow_take(&shadow, SHADOW_LARGE_BYTES, 8);
        assert_int_equal(one % page, (uintptr_t)block % page);
        assert_true(other / page > (one + SHADOW_LARGE_BYTES - 1) / page);
        free(block);
}

#endif

TEST(blocks_are_aligned)
{
        begin();
        for (uint64_t size = 24; size < 1u << 20; size *= 3) {
                const uint64_t one = shadow_take(&shadow, size, 64);
                const uint64_t other = shadow_take(&shadow, size, 64);
                assert_int_equal(one % 64, 0);
                assert_int_equal(other % 64, 0);
                assert_true(other >= one + size);
        }
}

/* A program may allocate more in all than there are addresses: a terabyte here. */
TEST(large_blocks_stay_inside)
{
        begin();
        for (int i = 0; i < 3000; i++) {
                const uint64_t block = shadow_take(&shadow, 1ull << 30, 8);
                assert_true(block >= 3ull << 39);
                assert_true(block + (1ull << 30) <= 2ull << 40);
        }
}
