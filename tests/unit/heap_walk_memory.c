/* SPDX-License-Identifier: MIT */
/* Cached walks are found while the words that they read are the same. */
#include <pthread.h>

#define TEST_SETUP empty
#include "unit_test.h"
#include "walk_memory.h"

static struct walk_memory memory;
static uintptr_t words[WALK_WORDS + 1];

static struct walk_start start_at(uintptr_t *stack)
{
        return (struct walk_start){.pc = 0x401000,
                                   .sp = (uintptr_t)stack,
                                   .bp = 1,
                                   .end = (uintptr_t)stack + sizeof(words),
                                   .rules = 1};
}

/* A walk that reads the first COUNT words. */
static void keep(const struct walk_start *start, size_t count, uint64_t hash)
{
        struct walk *walk = walk_begin(&memory, start);
        assert_non_null(walk);
        for (size_t i = 0; i < count; i++) {
                uintptr_t address = start->sp + i * sizeof(uintptr_t);
                walk_note(walk, address, *(const uintptr_t *)address);
        }
        walk_end(walk, hash, count, true, true);
}

static bool finds(const struct walk_start *start, uint64_t wanted)
{
        uint64_t hash;
        size_t depth;
        if (!walk_find(&memory, start, &hash, &depth))
                return false;
        assert_int_equal(hash, wanted);
        return true;
}

static int empty(void **state)
{
        memset(&memory, 0, sizeof(memory));
        for (size_t i = 0; i <= WALK_WORDS; i++)
                words[i] = i * 1000;
        return 0;
}

TEST(a_walk_is_found_while_its_words_are_the_same)
{
        struct walk_start start = start_at(words);
        assert_false(finds(&start, 5));
        keep(&start, WALK_WORDS, 5);
        assert_true(finds(&start, 5));
        for (size_t i = 0; i < WALK_WORDS; i++) {
                words[i]++;
                assert_false(finds(&start, 5));
                words[i]--;
        }
        words[WALK_WORDS]++; /* was not read */
        assert_true(finds(&start, 5));
}

TEST(a_walk_is_of_its_start)
{
        struct walk_start start = start_at(words);
        keep(&start, 3, 5);
        uintptr_t *const parts[] = {&start.pc, &start.sp, &start.bp, &start.end};
        for (size_t i = 0; i < LENGTH(parts); i++) {
                *parts[i] += sizeof(uintptr_t);
                assert_false(finds(&start, 5));
                *parts[i] -= sizeof(uintptr_t);
        }
        start.rules++;
        assert_false(finds(&start, 5));
}

TEST(a_frame_pointer_that_led_nowhere_does_not_matter)
{
        struct walk_start start = start_at(words);
        struct walk *walk = walk_begin(&memory, &start);
        walk_note(walk, start.sp, words[0]);
        walk_end(walk, 5, 1, false, true);
        start.bp++;
        assert_true(finds(&start, 5));
}

TEST(a_walk_that_is_too_long_or_was_not_whole_is_not_kept)
{
        struct walk_start start = start_at(words);
        keep(&start, WALK_WORDS + 1, 5);
        assert_false(finds(&start, 5));
        struct walk *walk = walk_begin(&memory, &start);
        walk_note(walk, start.sp, words[0]);
        walk_end(walk, 5, 1, true, false);
        assert_false(finds(&start, 5));
}

/* A jump out of a signal handler, or a fork, may end a writer. */
TEST(a_writer_that_has_gone_keeps_nobody_waiting)
{
        struct walk_start start = start_at(words);
        keep(&start, 3, 5);
        struct walk *walk = walk_begin(&memory, &start);
        walk_note(walk, start.sp, words[0]);
        assert_false(finds(&start, 5));
        assert_null(walk_begin(&memory, &start));
}

/* A longer stack was here. No word behind the first different word is read. */
TEST(nothing_is_read_behind_a_word_that_differs)
{
        const size_t page = 4096;
        char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(pages != MAP_FAILED);
        uintptr_t *stack = (uintptr_t *)(pages + page) - 2;
        struct walk_start start = start_at(stack);
        keep(&start, 10, 5);
        assert_true(finds(&start, 5));
        stack[1] = 1;
        mprotect(pages + page, page, PROT_NONE);
        assert_false(finds(&start, 5));
        munmap(pages, 2 * page);
}

/* Each thread caches walks over a separate stack, all in one row, and finds some. */
static void *keep_and_find(void *stack)
{
        struct walk_start start = start_at(stack);
        uintptr_t wrong = 0, found = 0;
        for (int i = 0; i < 200000 || !found; i++) {
                uint64_t hash;
                size_t depth;
                if (walk_find(&memory, &start, &hash, &depth)) {
                        wrong += hash != start.sp;
                        found++;
                        continue;
                }
                struct walk *walk = walk_begin(&memory, &start);
                if (!walk)
                        continue;
                for (size_t word = 0; word < 20; word++)
                        walk_note(walk, start.sp + word * sizeof(uintptr_t),
                                  ((uintptr_t *)stack)[word]);
                walk_end(walk, start.sp, 20, true, true);
        }
        return (void *)wrong;
}

TEST(threads_find_their_own_walks)
{
        enum { THREADS = 4 };
        static uintptr_t stacks[4096][20];
        pthread_t threads[THREADS];
        size_t count = 0;
        struct walk_start first = start_at(stacks[0]);
        for (size_t i = 0; count < THREADS && i < 4096; i++) {
                struct walk_start start = start_at(stacks[i]);
                if (walk_row(&memory, &start) != walk_row(&memory, &first))
                        continue;
                stacks[i][0] = i;
                assert_ok(
                    pthread_create(&threads[count++], NULL, keep_and_find, stacks[i]));
        }
        assert_int_equal(count, THREADS);
        for (size_t i = 0; i < THREADS; i++) {
                void *wrong;
                pthread_join(threads[i], &wrong);
                assert_null(wrong);
        }
}
