/* SPDX-License-Identifier: MIT */
/* Pages of a file in the place of memory, also when the file is cut short meanwhile. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_SETUP    begin
#define TEST_TEARDOWN end
#include "file_pages.h"
#include "unit_test.h"

enum { PAGES = 4, BYTES = PAGES * FILE_PAGE_BYTES };

/* As where a process has all the mappings it may have. */
static bool no_plain_memory;

void *__wrap_mmap(void *start, size_t bytes, int protection, int flags, int fd,
                  off_t offset);
void *__real_mmap(void *start, size_t bytes, int protection, int flags, int fd,
                  off_t offset);

void *__wrap_mmap(void *start, size_t bytes, int protection, int flags, int fd,
                  off_t offset)
{
        if (no_plain_memory && flags & MAP_ANONYMOUS) {
                errno = ENOMEM;
                return MAP_FAILED;
        }
        return __real_mmap(start, bytes, protection, flags, fd, offset);
}

/* A file of pages with "a", "b", and so on, and memory for as many. */
static int fd;
static char *memory;

static int begin(void **state)
{
        (void)state;
        fd = memfd_create("pages", MFD_CLOEXEC);
        for (int i = 0; i < PAGES; i++) {
                char page[FILE_PAGE_BYTES];

                memset(page, 'a' + i, sizeof(page));
                assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
        }
        memory = aligned_alloc(FILE_PAGE_BYTES, BYTES);
        assert_non_null(memory);
        memset(memory, '-', BYTES);
        return 0;
}

static int end(void **state)
{
        (void)state;
        free(memory);
        return close(fd);
}

TEST(pages_are_those_of_the_file)
{
        char byte;

        assert_ok(file_pages_lend(memory + FILE_PAGE_BYTES, 2 * FILE_PAGE_BYTES, fd,
                                  FILE_PAGE_BYTES));
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
}

TEST(parts_of_pages_are_to_be_read)
{
        assert_int_equal(file_pages_lend(memory + 1, FILE_PAGE_BYTES, fd, 0), -ENOTSUP);
        assert_int_equal(file_pages_lend(memory, 100, fd, 0), -ENOTSUP);
        assert_int_equal(file_pages_lend(memory, FILE_PAGE_BYTES, fd, 100), -ENOTSUP);
        assert_int_equal(file_pages_lend(memory, 0, fd, 0), -ENOTSUP);
        assert_int_equal(memory[0], '-');
}

TEST(a_file_cut_short_gives_zeros)
{
        assert_ok(file_pages_lend(memory, BYTES, fd, 0));
        assert_ok(ftruncate(fd, FILE_PAGE_BYTES + 10));
        assert_int_equal(memory[0], 'a');
        assert_int_equal(memory[FILE_PAGE_BYTES + 9], 'b');
        for (int i = 2 * FILE_PAGE_BYTES; i < BYTES; i++)
                assert_int_equal(memory[i], 0);
        file_pages_return(memory, BYTES);
}

/* There is room for some ranges only; none of them gets in another's place. */
TEST(what_has_no_room_is_to_be_read)
{
        enum { RANGES = 200 };
        int lent = 0;

        free(memory);
        memory = aligned_alloc(FILE_PAGE_BYTES, RANGES * FILE_PAGE_BYTES);
        assert_non_null(memory);
        memset(memory, '-', RANGES * FILE_PAGE_BYTES);
        for (int i = 0; i < RANGES; i++)
                lent += file_pages_lend(memory + i * FILE_PAGE_BYTES, FILE_PAGE_BYTES, fd,
                                        FILE_PAGE_BYTES) == 0;
        assert_in_range(lent, 8, RANGES - 1);
        for (int i = 0; i < RANGES; i++)
                assert_int_equal(memory[i * FILE_PAGE_BYTES], i < lent ? 'b' : '-');
        file_pages_return(memory, RANGES * FILE_PAGE_BYTES);
        assert_ok(file_pages_lend(memory, FILE_PAGE_BYTES, fd, 0));
        file_pages_return(memory, RANGES * FILE_PAGE_BYTES);
}

static int mappings(void)
{
        FILE *maps = fopen("/proc/self/maps", "r");
        int count = 0, c;

        assert_non_null(maps);
        while ((c = getc(maps)) != EOF)
                count += c == '\n';
        fclose(maps);
        return count;
}

/* A process may have some ten thousands. */
TEST(missing_pages_are_few_mappings)
{
        enum { MANY = 400 * FILE_PAGE_BYTES };
        char *many =
            mmap(NULL, MANY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        assert_true(many != MAP_FAILED);
        assert_ok(ftruncate(fd, MANY));
        assert_ok(file_pages_lend(many, MANY, fd, 0));
        assert_ok(ftruncate(fd, FILE_PAGE_BYTES));

        int count = mappings();

        for (int i = MANY - FILE_PAGE_BYTES; i > MANY / 2; i -= 2 * FILE_PAGE_BYTES)
                assert_int_equal(many[i], 0);
        for (int i = FILE_PAGE_BYTES; i < MANY; i += 2 * FILE_PAGE_BYTES)
                assert_int_equal(many[i], 0);
        assert_int_equal(many[0], 'a');
        assert_in_range(mappings(), count, count + 20);
        file_pages_return(many, MANY);
        munmap(many, MANY);
}

/* The signal by which a child process ends that does ACT with pages of a file. */
static int ends_by(void (*act)(void))
{
        int status;
        pid_t child = fork();

        if (child == 0) {
                signal(SIGBUS, SIG_DFL);
                alarm(10); /* were it tried again for ever */
                if (file_pages_lend(memory, BYTES, fd, 0) == 0)
                        act();
                _exit(1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        return WTERMSIG(status);
}

static void touch_what_is_not_lent(void)
{
        volatile char *mapped = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);

        if (ftruncate(fd, 0) == 0 && memory[0] == 0)
                _exit(mapped[0]);
}

static void touch_without_zeros(void)
{
        no_plain_memory = true;
        if (ftruncate(fd, 0) == 0)
                _exit(*(const volatile char *)memory);
}

static void send_to_itself(void)
{
        kill(getpid(), SIGBUS);
}

TEST(other_bus_errors_end_the_program)
{
        assert_int_equal(ends_by(touch_what_is_not_lent), SIGBUS);
        assert_int_equal(ends_by(touch_without_zeros), SIGBUS);
        assert_int_equal(ends_by(send_to_itself), SIGBUS);
}
