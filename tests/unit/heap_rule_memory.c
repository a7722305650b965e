/* SPDX-License-Identifier: MIT */
/* The unwinder's cache of rules finds the stored rules, and no others. */
#include <pthread.h>

#define TEST_SETUP empty
#include "rule_memory.h"
#include "unit_test.h"

enum { PAGE_BYTES = 4096 };

static struct rule_memory memory;

static uint64_t word_of(uint64_t address)
{
        return address * 31 + 7;
}

static bool has(uint64_t address)
{
        uint64_t word;
        if (!rule_memory_find(&memory, address, &word))
                return false;
        assert_int_equal(word, word_of(address));
        return true;
}

static void keep(uint64_t address)
{
        rule_memory_keep(&memory, address, word_of(address));
}

static int empty(void **state)
{
        memory = (struct rule_memory){0};
        return 0;
}

/* A call in the C library and one in a library beside it, at the same distance. */
TEST(two_libraries_do_not_displace_each_other)
{
        const uint64_t distance = 0x7fbd9e396249 - 0x7fbd9dd08c98;
        for (uint64_t page = 0; page < 20000; page++) {
                uint64_t first = 0x7f0000000c98 + page * 7919 * PAGE_BYTES;
                keep(first);
                keep(first + distance);
                assert_true(has(first) && has(first + distance));
        }
}

/* As many calls as a program's hot paths have, in several objects. */
TEST(hundreds_of_calls_have_room_in_each_layout)
{
        enum { LAYOUTS = 500, OBJECTS = 5, CALLS = 100 };
        srand(1);
        for (int layout = 0; layout < LAYOUTS; layout++) {
                uint64_t calls[OBJECTS * CALLS];
                empty(state);
                for (int i = 0; i < OBJECTS * CALLS; i++) {
                        uint64_t object = 0x7f0000000000 + (uint64_t)(i / CALLS << 21);
                        object += (uint64_t)layout * 104729 * PAGE_BYTES;
                        calls[i] = object + (uint64_t)(rand() % (1 << 20));
                        keep(calls[i]);
                }
                for (int i = 0; i < OBJECTS * CALLS; i++)
                        assert_true(has(calls[i]));
        }
}

TEST(what_was_not_kept_is_not_found)
{
        for (uint64_t address = 0; address < 200000; address += 2) {
                assert_false(has(address));
                keep(address);
                assert_false(has(address + 1));
        }
}

TEST(all_is_forgotten_at_once)
{
        for (uint64_t address = 1; address < 1000; address++)
                keep(address);
        rule_memory_forget(&memory);
        for (uint64_t address = 1; address < 1000; address++)
                assert_false(has(address));
        keep(500);
        assert_true(has(500));
}

/* Uses few sets: rows are overwritten all the time. */
static void *write_and_read(void *seed)
{
        unsigned state = (unsigned)(uintptr_t)seed;
        uintptr_t wrong = 0;
        for (int i = 0; i < 300000; i++) {
                uint64_t word, address = 1 + (uint64_t)rand_r(&state) % 64;
                address *= UINT64_C(0xf1de83e19937733d); /* the factor's inverse */
                if (rule_memory_find(&memory, address, &word))
                        wrong += word != word_of(address);
                else
                        keep(address);
        }
        return (void *)wrong;
}

TEST(threads_find_no_words_of_other_addresses)
{
        enum { THREADS = 4 };
        pthread_t threads[THREADS];
        for (uintptr_t i = 0; i < THREADS; i++)
                assert_ok(
                    pthread_create(&threads[i], NULL, write_and_read, (void *)(i + 1)));
        for (int i = 0; i < THREADS; i++) {
                void *wrong;
                pthread_join(threads[i], &wrong);
                assert_null(wrong);
        }
}
