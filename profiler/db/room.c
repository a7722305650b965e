/* SPDX-License-Identifier: MIT */
/* Checks free disk space, and reserves a part. */
#include "room.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "file_limit.h"

/* More than is written between two looks. */
#define SHORT_BYTES (UINT64_C(1) << 30)
/* A quarter of the reserve is the log's size. When the file cannot grow any more, the
 * log may be twice as large, and must be checkpointed into the file. The rest is for
 * messages about the failure. */
#define LOG_PARTS           4
#define RESERVE_PARTS       8
#define RESERVE_LEAST_BYTES (UINT64_C(256) << 10)
/* More takes long if the disk is memory (tmpfs), and only saves checkpoints. */
#define RESERVE_MOST_BYTES (UINT64_C(8) << 20)
/* A row takes some hundred bytes including its index entries. */
#define ROOM_BYTES_A_ROW 4096
#define ROWS_LEAST       100
#define LEAST_BYTES      (ROWS_LEAST * ROOM_BYTES_A_ROW)
#define LOG_PAGES_LEAST  8

void room_init(struct room *room)
{
        *room = (struct room){.reserve = -1};
}

static uint64_t clamped(uint64_t value, uint64_t least, uint64_t most)
{
        return value < least ? least : value > most ? most : value;
}

/* Opens the reserve's file, once. It has a name only for a moment, and only if the file
 * system does not support unnamed files. */
static void open_reserve(struct room *room, const char *path)
{
        if (room->opened)
                return;
        room->opened = true;
        char *name = strdup(path);
        if (!name)
                return;
        room->reserve =
            open(dirname(name), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
        free(name);
        if (room->reserve >= 0 || asprintf(&name, "%s.XXXXXX", path) < 0)
                return;
        room->reserve = mkostemp(name, O_CLOEXEC);
        if (room->reserve >= 0)
                unlink(name);
        free(name);
}

/* Without a reserve things go on as long as they can. */
static void take_reserve(struct room *room, const char *path, uint64_t free_bytes)
{
        if (room->taken)
                return;
        room->taken = true;
        open_reserve(room, path);
        room->reserved_bytes =
            clamped(free_bytes / RESERVE_PARTS, RESERVE_LEAST_BYTES, RESERVE_MOST_BYTES);
        if (room->reserved_bytes > free_bytes / 2)
                room->reserved_bytes = free_bytes / 2;
        if (room->reserve >= 0 && room->reserved_bytes > 0)
                (void)!posix_fallocate(room->reserve, 0, (off_t)room->reserved_bytes);
}

/* Returns true if the disk has room for the smallest transaction. */
static bool takes_more(const struct room *room)
{
        if (room->reserve < 0)
                return false;
        int error =
            posix_fallocate(room->reserve, (off_t)room->reserved_bytes, LEAST_BYTES);
        return ftruncate(room->reserve, (off_t)room->reserved_bytes) == 0 && error == 0;
}

/* Returns the free bytes; UINT64_MAX: unknown. f_bavail is 0 (for root, too) if the rest
 * is reserved for root, or if the file system cannot report free space. */
static uint64_t room_bytes(struct room *room, const char *path,
                           const struct statvfs *status)
{
        if (status->f_bavail > 0)
                return (uint64_t)status->f_bavail * status->f_frsize;
        open_reserve(room, path);
        if (!takes_more(room))
                return 0;
        return status->f_bfree > 0 ? (uint64_t)status->f_bfree * status->f_frsize
                                   : UINT64_MAX;
}

/* What the file may still grow by. */
static uint64_t growth_bytes(const char *path)
{
        const uint64_t limit = file_limit_bytes();
        if (limit == UINT64_MAX)
                return limit;
        const uint64_t bytes = file_limit_size(path);
        return limit > bytes ? limit - bytes : 0;
}

struct room_limits room_look(struct room *room, const char *path)
{
        struct statvfs status;
        struct room_limits limits = {ROOM_ROWS, ROOM_LOG_PAGES};
        if (statvfs(path, &status) != 0)
                return limits;
        uint64_t free_bytes = room_bytes(room, path, &status);
        const uint64_t growth = growth_bytes(path);
        if (growth < free_bytes)
                free_bytes = growth;
        if (free_bytes >= SHORT_BYTES)
                return limits;
        take_reserve(room, path, free_bytes);
        limits.rows = clamped(free_bytes / ROOM_BYTES_A_ROW, ROWS_LEAST, ROOM_ROWS);
        limits.log_pages =
            (int)clamped(room->reserved_bytes / LOG_PARTS / ROOM_PAGE_BYTES,
                         LOG_PAGES_LEAST, ROOM_LOG_PAGES);
        return limits;
}

void room_give_up(struct room *room)
{
        if (room->reserve >= 0)
                close(room->reserve);
        room_init(room);
}
