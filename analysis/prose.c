/* SPDX-License-Identifier: MIT */
/* Sentences on a terminal. */
#include "prose.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { PROSE_WIDTH = 90 };

void prose_indented(FILE *out, const char *text, size_t indent, size_t width)
{
        size_t column = 0;
        while (*text) {
                size_t length = strcspn(text, " ");
                if (column && column + 1 + length > width) {
                        putc('\n', out);
                        column = 0;
                }
                column += (size_t)fprintf(out, "%*s%.*s", column ? 1 : (int)indent,
                                          column || indent ? " " : "", (int)length, text);
                text += length + strspn(text + length, " ");
        }
        putc('\n', out);
}

void prose_wrapped(FILE *out, const char *text)
{
        prose_indented(out, text, 0, PROSE_WIDTH);
}

static bool ends_in(const char *text, size_t length, const char *end)
{
        return length >= strlen(end) &&
               memcmp(text + length - strlen(end), end, strlen(end)) == 0;
}

void prose_counted(FILE *out, int64_t count, const char *plural)
{
        size_t length = strlen(plural);
        const char *end = "";
        bool as_it_is = count != 1 || ends_in(plural, length, "series");
        if (!as_it_is && ends_in(plural, length, "ies")) {
                length -= 3;
                end = "y";
        } else if (!as_it_is && ends_in(plural, length, "sses")) {
                length -= 2;
        } else if (!as_it_is && ends_in(plural, length, "s")) {
                length--;
        }
        fprintf(out, "%" PRId64 " %.*s%s", count, (int)length, plural, end);
}
