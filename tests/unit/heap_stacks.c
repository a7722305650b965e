/* SPDX-License-Identifier: MIT */
/* Call stacks come out as they were put in, and take little more room than they need. */
#include "heap_stacks.h"
#include "unit_test.h"

enum { STACKS = 400000, DEPTH = 12, FRAME_BYTES = 6 };

static uint64_t hash_of(uint64_t number)
{
        return (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Return addresses that are far from each other, in either direction. */
static void make_frames(uint64_t number, uint64_t frames[DEPTH])
{
        for (uint64_t i = 0; i < DEPTH; i++)
                frames[i] = UINT64_C(0x7f0000000000) + (hash_of(number + i) >> 27);
}

static size_t mapped_bytes(void)
{
        FILE *file = fopen("/proc/self/statm", "r");
        size_t pages = 0;
        assert_non_null(file);
        assert_int_equal(fscanf(file, "%zu", &pages), 1);
        fclose(file);
        return pages * (size_t)sysconf(_SC_PAGESIZE);
}

TEST(test_many)
{
        struct heap_stacks stacks = {0};
        uint64_t frames[DEPTH], found[HEAP_STACK_FRAMES];
        size_t before = mapped_bytes();
        for (uint64_t i = 0; i < STACKS; i++) {
                make_frames(i, frames);
                assert_ok(heap_stacks_add(&stacks, hash_of(i), 1, frames, DEPTH));
        }
        size_t most = (size_t)STACKS * (sizeof(struct heap_stack) + DEPTH * FRAME_BYTES);
        size_t slots = stacks.slot_count * 16;

        assert_true(mapped_bytes() - before < slots + most + most / 8);
        for (uint64_t i = 0; i < STACKS; i += 7) {
                struct heap_stack *stack = heap_stacks_find(&stacks, hash_of(i));

                assert_non_null(stack);
                assert_int_equal(stack->depth, DEPTH);
                make_frames(i, frames);
                heap_stack_frames(stack, found);
                assert_memory_equal(found, frames, sizeof(frames));
        }
        assert_null(heap_stacks_find(&stacks, hash_of(STACKS)));
        heap_stacks_free(&stacks);
}

TEST(test_extreme_frames)
{
        const uint64_t frames[] = {0, UINT64_MAX, 1, UINT64_C(1) << 63, 0, INT64_MAX};
        uint64_t deep[HEAP_STACK_FRAMES + 1], found[HEAP_STACK_FRAMES];
        struct heap_stacks stacks = {0};
        for (size_t i = 0; i <= HEAP_STACK_FRAMES; i++)
                deep[i] = i % 2 ? UINT64_MAX / 3 : 0;
        assert_ok(heap_stacks_add(&stacks, 1, 1, frames, 6));
        assert_ok(heap_stacks_add(&stacks, 2, 1, deep, HEAP_STACK_FRAMES + 1));
        heap_stack_frames(heap_stacks_find(&stacks, 1), found);
        assert_memory_equal(found, frames, sizeof(frames));
        heap_stack_frames(heap_stacks_find(&stacks, 2), found);
        assert_int_equal(heap_stacks_find(&stacks, 2)->depth, HEAP_STACK_FRAMES);
        assert_memory_equal(found, deep, sizeof(found));
        heap_stacks_free(&stacks);
}
