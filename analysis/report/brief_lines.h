/* SPDX-License-Identifier: MIT */
/* The first lines of a report: as many blocks of text as fit. Knows no database. */
#ifndef MEMLAG_BRIEF_LINES_H
#define MEMLAG_BRIEF_LINES_H

#include <stddef.h>
#include <stdio.h>

/* What a block is about, the most important first. Of one rank, the first block is the
 * most important. */
enum brief_rank {
        BRIEF_HEAD,
        BRIEF_TIME,
        BRIEF_FIRST_PLACE,
        BRIEF_MORE,  /* the commands that show more */
        BRIEF_GAIN,  /* of a fix that was tried: always shown, beside all others */
        BRIEF_STATE, /* what is missing of the run */
        BRIEF_REMEDY,
        BRIEF_MEASURED, /* whether the first run at full speed agrees */
        BRIEF_PLACE,
        BRIEF_LAST_REMEDY,
        BRIEF_NOTE
};

/* Zero-initialised: empty. */
struct brief_lines {
        struct brief_block {
                char *text;
                size_t size, lines;
                enum brief_rank rank;
        } * blocks;
        size_t count, capacity;
        FILE *open; /* the last block; NULL: complete */
};

/* Begins the next block of LINES: returns the stream for its text, or NULL without
 * memory. brief_end completes the block, and removes it if it is empty; returns 0 or
 * -ENOMEM. */
FILE *brief_begin(struct brief_lines *lines, enum brief_rank rank);
int brief_end(struct brief_lines *lines);

/* Prints the blocks in their order, without the least important ones if all have more
 * than MOST lines without the gains. */
void brief_print(struct brief_lines *lines, size_t most, FILE *out);

void brief_free(struct brief_lines *lines);

#endif
