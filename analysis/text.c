/* SPDX-License-Identifier: MIT */
/* UTF-8 and escapes. Knows no tables. */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

static size_t sequence_length(unsigned char first)
{
        if (first < 0x80)
                return 1;
        if (first >= 0xc2 && first <= 0xdf)
                return 2;
        if ((first & 0xf0) == 0xe0)
                return 3;
        return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Not in the shortest form, a surrogate, or beyond Unicode (RFC 3629). */
static bool is_forbidden(const unsigned char *bytes)
{
        return (bytes[0] == 0xe0 && bytes[1] < 0xa0) ||
               (bytes[0] == 0xed && bytes[1] > 0x9f) ||
               (bytes[0] == 0xf0 && bytes[1] < 0x90) ||
               (bytes[0] == 0xf4 && bytes[1] > 0x8f);
}

size_t text_character(const char *text, size_t count)
{
        const unsigned char *bytes = (const unsigned char *)text;
        size_t length = sequence_length(bytes[0]);
        if (length > count)
                return 0;
        for (size_t i = 1; i < length; i++)
                if ((bytes[i] & 0xc0) != 0x80)
                        return 0;
        return length > 2 && is_forbidden(bytes) ? 0 : length;
}

/* A terminal could interpret it as a command or reverse the text after it. Also true for
 * NUL. */
static bool is_control(const char *character, size_t length)
{
        char copy[5] = "";
        memcpy(copy, character, length);
        return *copy == '\0' || diag_control(copy) == length;
}

static char *escape_byte(char *end, unsigned char byte)
{
        if (byte == '\n')
                return stpcpy(end, "\\n");
        if (byte == '\t')
                return stpcpy(end, "\\t");
        return end + sprintf(end, "\\x%02x", byte);
}

char *text_printable(const char *bytes, size_t count)
{
        char *text = count < SIZE_MAX / 4 ? malloc(4 * count + 1) : NULL;
        char *end = text;
        if (!text)
                return NULL;
        for (size_t i = 0; i < count;) {
                size_t length = text_character(bytes + i, count - i);
                if (length && !is_control(bytes + i, length)) {
                        end = mempcpy(end, bytes + i, length);
                        i += length;
                        continue;
                }
                for (size_t escaped = length ? length : 1; escaped > 0; escaped--)
                        end = escape_byte(end, (unsigned char)bytes[i++]);
        }
        *end = '\0';
        return text;
}

size_t text_width(const char *text)
{
        size_t width = 0;
        for (; *text; text++)
                width += ((unsigned char)*text & 0xc0) != 0x80;
        return width;
}
