/* SPDX-License-Identifier: MIT */
/* A bounds-checked cursor over foreign bytes. Does not interpret them. */
#ifndef MEMLAG_PERF_DATA_CURSOR_H
#define MEMLAG_PERF_DATA_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
        const uint8_t *at;
        size_t left;
        bool failed; /* something went beyond the end; there is nothing left then */
};

struct text {
        const char *bytes;
        int length; /* fits "%.*s" */
};

/* The next COUNT bytes; NULL: there are fewer. */
const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t count);

/* Reads the next number; 0: at the end. */
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);

/* A string after its stored length, padded with NULs or not. */
struct text cursor_text(struct cursor *cursor);

#endif
