/* SPDX-License-Identifier: MIT */
/* Blocks without memory are placed as malloc places blocks. The truth is malloc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/hot.h"
#include "model/shadow.h"

static struct shadow shadow;

static void *allocate(size_t bytes)
{
        return calloc(1, bytes);
}

static void begin(void)
{
        shadow_init(&shadow, 1ull << 40, 1ull << 40, allocate);
}

/* Blocks of a size that no other code has used: they follow each other in both heaps. */
static __attribute__((unused)) void small_blocks_are_as_far_apart(void **state)
{
        static const size_t sizes[] = {1000, 2008, 40, 24, 72};

        (void)state;
        begin();
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                char *first = malloc(sizes[i]), *second = malloc(sizes[i]);
                const uint64_t one = shadow_take(&shadow, sizes[i], 8);
                const uint64_t other = shadow_take(&shadow, sizes[i], 8);
                assert_int_equal(other - one, second - first);
                free(second);
                free(first);
        }
}

static __attribute__((unused)) void a_freed_block_is_next(void **state)
{
        char *first = malloc(1000);
        const uint64_t one = (begin(), shadow_take(&shadow, 1000, 8));

        (void)state;
        const uintptr_t before = (uintptr_t)first;
        free(first);
        shadow_give(&shadow, one, 1000, 8);
        first = malloc(1000);
        assert_int_equal(shadow_take(&shadow, 1000, 8) - one, (uintptr_t)first - before);
        free(first);
}

static __attribute__((unused)) void large_blocks_have_their_pages(void **state)
{
        const uint64_t page = 1u << PAGE_SHIFT;
        char *block = malloc(SHADOW_LARGE_BYTES);
        const uint64_t one = (begin(), shadow_take(&shadow, SHADOW_LARGE_BYTES, 8));
        const uint64_t other = shadow_take(&shadow, SHADOW_LARGE_BYTES, 8);

        (void)state;
        assert_int_equal(one % page, (uintptr_t)block % page);
        assert_true(other / page > (one + SHADOW_LARGE_BYTES - 1) / page);
        free(block);
}

static void blocks_are_aligned(void **state)
{
        (void)state;
        begin();
        for (uint64_t size = 24; size < 1u << 20; size *= 3) {
                const uint64_t one = shadow_take(&shadow, size, 64);
                const uint64_t other = shadow_take(&shadow, size, 64);
                assert_int_equal(one % 64, 0);
                assert_int_equal(other % 64, 0);
                assert_true(other >= one + size);
        }
}

/* Of programs that allocate more than all addresses in the end: a terabyte here. */
static void large_blocks_stay_inside(void **state)
{
        (void)state;
        begin();
        for (int i = 0; i < 3000; i++) {
                const uint64_t block = shadow_take(&shadow, 1ull << 30, 8);
                assert_true(block >= 3ull << 39);
                assert_true(block + (1ull << 30) <= 2ull << 40);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
#ifndef __SANITIZE_ADDRESS__ /* has a malloc of its own */
            cmocka_unit_test(small_blocks_are_as_far_apart),
            cmocka_unit_test(a_freed_block_is_next),
            cmocka_unit_test(large_blocks_have_their_pages),
#endif
            cmocka_unit_test(blocks_are_aligned),
            cmocka_unit_test(large_blocks_stay_inside),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
