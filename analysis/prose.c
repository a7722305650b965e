/* SPDX-License-Identifier: MIT */
/* Sentences on a terminal. */
#include "prose.h"

#include <inttypes.h>
#include <string.h>

enum { PROSE_WIDTH = 90 };

void prose_wrapped(FILE *out, const char *text)
{
        size_t column = 0;
        while (*text) {
                size_t length = strcspn(text, " ");
                if (column && column + 1 + length > PROSE_WIDTH) {
                        putc('\n', out);
                        column = 0;
                }
                column +=
                    (size_t)fprintf(out, "%s%.*s", column ? " " : "", (int)length, text);
                text += length + strspn(text + length, " ");
        }
        putc('\n', out);
}

void prose_counted(FILE *out, int64_t count, const char *plural)
{
        size_t length = strlen(plural);
        if (count == 1 && length > 4 && strcmp(plural + length - 4, "sses") == 0)
                length -= 2;
        else if (count == 1 && length > 1 && plural[length - 1] == 's')
                length--;
        fprintf(out, "%" PRId64 " %.*s", count, (int)length, plural);
}
