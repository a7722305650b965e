/* SPDX-License-Identifier: MIT */
/* Disk space for a growing database. Limits the uncommitted data when space gets short.
 * A reserve guarantees that the log can be checkpointed and the losses recorded. Knows
 * no tables. */
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
        uint64_t rows; /* in one transaction, which is lost when the disk is full */
        int log_pages; /* of the log, before its pages go into the file */
};

/* With ample disk space: one checkpoint for about every two million samples. */
enum { ROOM_ROWS = 100000, ROOM_LOG_PAGES = 8192 };

enum { ROOM_PAGE_BYTES = 8192 }; /* of the database: schema.sql */

/* Bytes of a file that the last facts of a recording take, when a limit on file sizes
 * (ulimit -f) has ended it. */
#define ROOM_FACTS_BYTES (UINT64_C(128) << 10)

void room_init(struct room *room);

/* Returns the limits for the next transaction of the database PATH. Claims the reserve
 * once space is short, without a visible file. */
struct room_limits room_look(struct room *room, const char *path);

/* Releases the reserve, and frees ROOM. */
void room_give_up(struct room *room);

#endif
