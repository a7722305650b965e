/* SPDX-License-Identifier: MIT */
/* The bytes of a recording from a file or a pipe, read once from front to back through a
 * buffer of fixed size. Knows its position, not the contents. */
#ifndef MEMLAG_PERF_DATA_INPUT_H
#define MEMLAG_PERF_DATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

enum { INPUT_PEEK_MAX_BYTES = 65536 };

struct input {
        int fd; /* not owned */
        bool seekable;
        uint64_t size_bytes;   /* of a seekable input */
        uint64_t offset_bytes; /* of the next byte */
        uint64_t end_bytes; /* reading stops here; UINT64_MAX: at the end of the input */
        uint8_t *buffer;
        size_t begin; /* start of the buffered bytes */
        size_t end;
};

/* 0 or a negative errno value. */
int input_open(struct input *input, int fd, struct diag *diag);
void input_close(struct input *input);

/* Replaces a pipe by an unnamed file in $TMPDIR (/var/tmp) with the rest of the input;
 * it can then be read at any position. The caller closes *FD. */
int input_spool(struct input *input, int *fd, struct diag *diag);

/* Goes on at OFFSET_BYTES of a seekable input, up to END_BYTES. */
void input_seek(struct input *input, uint64_t offset_bytes, uint64_t end_bytes);

/* Makes the next WANTED (at most INPUT_PEEK_MAX_BYTES) bytes readable at *BYTES until the
 * next call. *COUNT is smaller when the input ends before. */
int input_peek(struct input *input, size_t wanted, const uint8_t **bytes, size_t *count,
               struct diag *diag);

/* Skips COUNT bytes; *MISSING is the number of bytes beyond the end of input. */
int input_skip(struct input *input, uint64_t count, uint64_t *missing, struct diag *diag);

/* Reads COUNT bytes at OFFSET_BYTES of a seekable input, and does not move. -EBADMSG when
 * they are not all there. */
int input_read_at(const struct input *input, uint64_t offset_bytes, void *bytes,
                  size_t count, struct diag *diag);

#endif
