/* SPDX-License-Identifier: MIT */
/* Messages of one line. They often hold names that others chose (paths, SQL), so
 * control characters never reach the terminal. */
#include "diag.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void diag_clean(char *text)
{
        for (unsigned char *c = (unsigned char *)text; *c; c++)
                if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) /* C1, as UTF-8 */
                        c[0] = c[1] = ' ';
                else if (iscntrl(*c))
                        *c = ' ';
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
