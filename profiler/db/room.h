/* SPDX-License-Identifier: MIT */
/* Room on the disk for a database that grows: how much may be at stake where it gets
 * short, and a reserve, so that what was written comes into the file itself and there is
 * room to say what was not. Knows no tables. */
#ifndef MEMLAG_ROOM_H
#define MEMLAG_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct room {
        int reserve; /* a file without a name; -1: none */
        bool opened; /* it was tried, also in vain */
        bool taken;
        uint64_t reserved_bytes; /* may be 0 */
};

struct room_limits {
        uint64_t rows; /* of one transaction, which is lost when it has no room */
        int log_pages; /* of the log, before its pages go into the file */
};

/* Of a disk with more room than matters: one checkpoint for about every two million
 * samples. */
enum { ROOM_ROWS = 100000, ROOM_LOG_PAGES = 8192 };

void room_init(struct room *room);

/* The limits for the next transaction of the database PATH. Takes the reserve once room
 * is short; that needs no file of its own that anybody sees. */
struct room_limits room_look(struct room *room, const char *path);

/* Gives the reserve back; also what frees ROOM. */
void room_give_up(struct room *room);

#endif
