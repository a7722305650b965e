/* SPDX-License-Identifier: MIT */
/* Reads numbers and texts from bytes that may end anywhere. Past the end each read gives
 * 0, and the cursor notes the failure. */
#ifndef MEMLAG_SYMBOLIZE_BYTE_CURSOR_H
#define MEMLAG_SYMBOLIZE_BYTE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_cursor {
        const uint8_t *at;
        const uint8_t *end;
        bool failed;
};

static inline bool cursor_has(struct byte_cursor *cursor, uint64_t bytes)
{
        if (cursor->failed || bytes > (uint64_t)(cursor->end - cursor->at))
                cursor->failed = true;
        return !cursor->failed;
}

static inline void cursor_skip(struct byte_cursor *cursor, uint64_t bytes)
{
        if (cursor_has(cursor, bytes))
                cursor->at += bytes;
}

static inline uint8_t cursor_byte(struct byte_cursor *cursor)
{
        return cursor_has(cursor, 1) ? *cursor->at++ : 0;
}

/* A number of 1 to 8 BYTES. */
static inline uint64_t cursor_number(struct byte_cursor *cursor, unsigned bytes)
{
        uint64_t value = 0;

        if (!cursor_has(cursor, bytes))
                return 0;
        for (unsigned i = 0; i < bytes; i++)
                value |= (uint64_t)cursor->at[i] << 8 * i;
        cursor->at += bytes;
        return value;
}

/* LEB128; bits beyond 64 are lost. */
static inline uint64_t cursor_leb(struct byte_cursor *cursor)
{
        uint64_t value = 0;

        if (!cursor->failed && cursor->at < cursor->end && *cursor->at < 0x80)
                return *cursor->at++; /* mostly */
        for (unsigned shift = 0; cursor_has(cursor, 1); shift += 7) {
                uint8_t byte = *cursor->at++;

                if (shift < 64)
                        value |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return value;
        }
        return 0;
}

static inline int64_t cursor_signed_leb(struct byte_cursor *cursor)
{
        uint64_t value = 0;

        for (unsigned shift = 0; cursor_has(cursor, 1);) {
                uint8_t byte = *cursor->at++;

                if (shift < 64)
                        value |= (uint64_t)(byte & 0x7f) << shift;
                if (shift < 64)
                        shift += 7;
                if (!(byte & 0x80)) {
                        if ((byte & 0x40) && shift < 64)
                                value |= UINT64_MAX << shift;
                        return (int64_t)value;
                }
        }
        return 0;
}

/* A text with its final null byte; NULL when that is missing. */
static inline const char *cursor_text(struct byte_cursor *cursor)
{
        const uint8_t *start = cursor->at;
        const uint8_t *nul = NULL;

        if (!cursor->failed && cursor->end > start)
                nul = memchr(start, '\0', (size_t)(cursor->end - start));
        cursor->failed = !nul;
        if (!nul)
                return NULL;
        cursor->at = nul + 1;
        return (const char *)start;
}

#endif
