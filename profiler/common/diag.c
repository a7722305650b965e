/* SPDX-License-Identifier: MIT */
/* One-line messages. They often contain foreign names (paths, SQL); control characters
 * never reach the terminal. */
#include "diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns true for bidirectional control characters (U+200E, U+200F, U+202A to U+202E,
 * U+2066 to U+2069), which can disguise text, and for U+2028 and U+2029. */
static bool turns_text(const unsigned char *bytes)
{
        if (bytes[0] != 0xe2)
                return false;
        return bytes[1] == 0x80
                   ? bytes[2] == 0x8e || bytes[2] == 0x8f ||
                         (bytes[2] >= 0xa8 && bytes[2] <= 0xae)
                   : bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9;
}

size_t diag_control(const char *text)
{
        const unsigned char *bytes = (const unsigned char *)text;
        if (bytes[0] < 0x20 || bytes[0] == 0x7f)
                return bytes[0] ? 1 : 0;
        if (bytes[0] == 0xc2 && bytes[1] >= 0x80 && bytes[1] < 0xa0)
                return 2;
        if (bytes[0] == 0xd8 && bytes[1] == 0x9c) /* U+061C */
                return 2;
        return turns_text(bytes) ? 3 : 0;
}

void diag_clean(char *text)
{
        while (*text) {
                size_t length = diag_control(text);
                memset(text, ' ', length);
                text += length ? length : 1;
        }
}

int diag_set(struct diag *diag, int code, const char *format, ...)
{
        if (!diag)
                return code;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(diag->text, sizeof(diag->text), format, arguments);
        va_end(arguments);
        diag_clean(diag->text);
        return code;
}

int diag_no_memory(struct diag *diag)
{
        return diag_set(diag, -ENOMEM, "out of memory");
}

void diag_print(const char *command, const struct diag *diag)
{
        fprintf(stderr, "memlag %s: %s\n", command, diag->text);
}

void diag_printf(const char *command, const char *format, ...)
{
        struct diag diag;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(diag.text, sizeof(diag.text), format, arguments);
        va_end(arguments);
        diag_clean(diag.text);
        diag_print(command, &diag);
}
