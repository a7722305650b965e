/* SPDX-License-Identifier: MIT */
#include "cursor.h"

#include <string.h>

const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t count)
{
        if (count > cursor->left) {
                cursor->failed = true;
                cursor->left = 0;
                return NULL;
        }
        const uint8_t *bytes = cursor->at;
        cursor->at += count;
        cursor->left -= (size_t)count;
        return bytes;
}

uint32_t cursor_u32(struct cursor *cursor)
{
        uint32_t value = 0;
        const uint8_t *bytes = cursor_bytes(cursor, sizeof(value));
        if (bytes)
                memcpy(&value, bytes, sizeof(value));
        return value;
}

uint64_t cursor_u64(struct cursor *cursor)
{
        uint64_t value = 0;
        const uint8_t *bytes = cursor_bytes(cursor, sizeof(value));
        if (bytes)
                memcpy(&value, bytes, sizeof(value));
        return value;
}

struct text cursor_text(struct cursor *cursor)
{
        uint32_t stored = cursor_u32(cursor);
        const char *bytes = (const char *)cursor_bytes(cursor, stored);
        if (!bytes)
                return (struct text){"", 0};
        size_t length = strnlen(bytes, stored);
        return (struct text){bytes, length > INT32_MAX ? INT32_MAX : (int)length};
}
