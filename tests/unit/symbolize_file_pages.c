/* SPDX-License-Identifier: MIT */
/* Pages of a file in the place of memory, also when the file is cut short meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_pages.h"

enum { PAGES = 4, BYTES = PAGES * FILE_PAGE_BYTES };

static int make_file(void)
{
        int fd = memfd_create("pages", MFD_CLOEXEC);

        for (int i = 0; i < PAGES; i++) {
                char page[FILE_PAGE_BYTES];

                memset(page, 'a' + i, sizeof(page));
                assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
        }
        return fd;
}

static char *take_memory(void)
{
        char *memory = aligned_alloc(FILE_PAGE_BYTES, BYTES);

        assert_non_null(memory);
        memset(memory, '-', BYTES);
        return memory;
}

static void pages_are_those_of_the_file(void **state)
{
        int fd = make_file();
        char *memory = take_memory(), byte;

        (void)state;
        assert_int_equal(file_pages_lend(memory + FILE_PAGE_BYTES, 2 * FILE_PAGE_BYTES,
                                         fd, FILE_PAGE_BYTES),
                         0);
        assert_int_equal(memory[FILE_PAGE_BYTES - 1], '-');
        assert_int_equal(memory[FILE_PAGE_BYTES], 'b');
        assert_int_equal(memory[3 * FILE_PAGE_BYTES - 1], 'c');
        assert_int_equal(memory[3 * FILE_PAGE_BYTES], '-');
        memory[FILE_PAGE_BYTES] = '!';
        assert_int_equal(pread(fd, &byte, 1, FILE_PAGE_BYTES), 1);
        assert_int_equal(byte, 'b');
        file_pages_return(memory, BYTES);
        memset(memory, '+', BYTES);
        assert_int_equal(pread(fd, &byte, 1, 2 * FILE_PAGE_BYTES), 1);
        assert_int_equal(byte, 'c');
        free(memory);
        close(fd);
}

static void parts_of_pages_are_to_be_read(void **state)
{
        int fd = make_file();
        char *memory = take_memory();

        (void)state;
        assert_int_equal(file_pages_lend(memory + 1, FILE_PAGE_BYTES, fd, 0), -ENOTSUP);
        assert_int_equal(file_pages_lend(memory, 100, fd, 0), -ENOTSUP);
        assert_int_equal(file_pages_lend(memory, FILE_PAGE_BYTES, fd, 100), -ENOTSUP);
        assert_int_equal(file_pages_lend(memory, 0, fd, 0), -ENOTSUP);
        assert_int_equal(memory[0], '-');
        free(memory);
        close(fd);
}

static void a_file_cut_short_gives_zeros(void **state)
{
        int fd = make_file();
        char *memory = take_memory();

        (void)state;
        assert_int_equal(file_pages_lend(memory, BYTES, fd, 0), 0);
        assert_int_equal(ftruncate(fd, FILE_PAGE_BYTES + 10), 0);
        assert_int_equal(memory[0], 'a');
        assert_int_equal(memory[FILE_PAGE_BYTES + 9], 'b');
        for (int i = 2 * FILE_PAGE_BYTES; i < BYTES; i++)
                assert_int_equal(memory[i], 0);
        file_pages_return(memory, BYTES);
        free(memory);
        close(fd);
}

/* There is room for some ranges only; none of them gets in another's place. */
static void what_has_no_room_is_to_be_read(void **state)
{
        enum { RANGES = 200 };
        int fd = make_file(), lent = 0;
        char *memory = aligned_alloc(FILE_PAGE_BYTES, RANGES * FILE_PAGE_BYTES);

        (void)state;
        assert_non_null(memory);
        memset(memory, '-', RANGES * FILE_PAGE_BYTES);
        for (int i = 0; i < RANGES; i++)
                lent += file_pages_lend(memory + i * FILE_PAGE_BYTES, FILE_PAGE_BYTES, fd,
                                        FILE_PAGE_BYTES) == 0;
        assert_in_range(lent, 8, RANGES - 1);
        for (int i = 0; i < RANGES; i++)
                assert_int_equal(memory[i * FILE_PAGE_BYTES], i < lent ? 'b' : '-');
        file_pages_return(memory, RANGES * FILE_PAGE_BYTES);
        assert_int_equal(file_pages_lend(memory, FILE_PAGE_BYTES, fd, 0), 0);
        file_pages_return(memory, RANGES * FILE_PAGE_BYTES);
        free(memory);
        close(fd);
}

/* Of a mapping that is none of those lent. */
static void other_missing_pages_end_the_program(void **state)
{
        int fd = make_file(), status;
        char *memory = take_memory();
        pid_t child = fork();

        (void)state;
        if (child == 0) {
                signal(SIGBUS, SIG_DFL);
                alarm(10); /* were it tried again for ever */
                volatile char *mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);

                if (file_pages_lend(memory, BYTES, fd, 0) == 0 && ftruncate(fd, 0) == 0 &&
                    memory[0] == 0)
                        _exit(mapped[0]);
                _exit(1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGBUS);
        free(memory);
        close(fd);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(pages_are_those_of_the_file),
            cmocka_unit_test(parts_of_pages_are_to_be_read),
            cmocka_unit_test(a_file_cut_short_gives_zeros),
            cmocka_unit_test(what_has_no_room_is_to_be_read),
            cmocka_unit_test(other_missing_pages_end_the_program),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
