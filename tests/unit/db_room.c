/* SPDX-License-Identifier: MIT */
/* Limits and reserve on a nearly full disk, whose free space the test simulates. */
#include <dirent.h>
#include <sys/statvfs.h>

#include "room.h"
#include "unit_test.h"

#define MB UINT64_C(1000000)

static uint64_t available_bytes, free_bytes;
static bool full;

int __wrap_statvfs(const char *path, struct statvfs *status);
int __wrap_posix_fallocate(int fd, off_t offset, off_t bytes);
int __real_posix_fallocate(int fd, off_t offset, off_t bytes);

int __wrap_statvfs(const char *path, struct statvfs *status)
{
        *status = (struct statvfs){
            .f_frsize = 1, .f_bavail = available_bytes, .f_bfree = free_bytes};
        return 0;
}

int __wrap_posix_fallocate(int fd, off_t offset, off_t bytes)
{
        return full ? ENOSPC : __real_posix_fallocate(fd, offset, bytes);
}

static size_t entries(const char *path)
{
        DIR *directory = opendir(path);
        size_t count = 0;

        assert_non_null(directory);
        while (readdir(directory))
                count++;
        closedir(directory);
        return count;
}

static char directory[] = "/tmp/memlag-room-XXXXXX", database[64];

static int make_directory(void **state)
{
        if (!mkdtemp(directory))
                return -1;
        snprintf(database, sizeof(database), "%s/t.db", directory);
        return 0;
}

static int remove_directory(void **state)
{
        return rmdir(directory); /* fails if there is anything */
}

/* The limits after LOOKS looks. Only the first look may open files. */
static struct room_limits looked(struct room *room, int looks)
{
        struct room_limits limits = room_look(room, database);
        size_t files = entries("/proc/self/fd");
        while (--looks > 0)
                limits = room_look(room, database);
        assert_int_equal(entries("/proc/self/fd"), files);
        return limits;
}

static void check(uint64_t available, uint64_t all, bool is_full, uint64_t rows)
{
        size_t files = entries("/proc/self/fd");
        struct room room;
        available_bytes = available;
        free_bytes = all;
        full = is_full;
        room_init(&room);
        assert_int_equal(looked(&room, 20).rows, rows);
        room_give_up(&room);
        assert_int_equal(entries("/proc/self/fd"), files);
        assert_int_equal(entries(directory), 2);
}

/* Each row is assumed to need 4096 bytes. */
TEST(short_room_is_for_short_transactions)
{
        check(2000 * MB, 2000 * MB, false, ROOM_ROWS);
        check(40960000, 40960000, false, 10000);
        check(4096, 4096, false, 100);
        check(0, 0, true, 100);
        check(0, 500 * MB, true, 100); /* the rest is another user's */
}

TEST(a_disk_that_takes_more_is_not_full)
{
        check(0, 0, false, ROOM_ROWS);
        check(0, 2000 * MB, false, ROOM_ROWS);
        check(0, 40960000, false, 10000);
}

/* Also after a look at a full disk. */
TEST(the_reserve_is_an_eighth)
{
        struct room room;
        struct stat status;
        room_init(&room);
        available_bytes = free_bytes = 40 * MB;
        full = false;
        assert_int_equal(looked(&room, 2).log_pages, 5 * MB / 4 / 8192);
        assert_ok(fstat(room.reserve, &status));
        assert_in_range(status.st_blocks * 512, 5 * MB, 5 * MB + 65536);
        assert_int_equal(status.st_nlink, 0);
        available_bytes = free_bytes = 0;
        full = true;
        assert_int_equal(looked(&room, 2).rows, 100);
        full = false;
        assert_int_equal(looked(&room, 2).rows, ROOM_ROWS);
        assert_ok(fstat(room.reserve, &status));
        assert_int_equal(status.st_size, 5 * MB);
        room_give_up(&room);
}

TEST(the_reserve_is_no_more_than_takes_a_moment)
{
        struct room room;
        room_init(&room);
        available_bytes = free_bytes = 800 * MB;
        full = false;
        looked(&room, 2);
        assert_int_equal(room.reserved_bytes, 8 << 20);
        room_give_up(&room);
}

int main(void)
{
        return run_unit_tests(make_directory, remove_directory);
}
