/* SPDX-License-Identifier: MIT */
/* Messages of one line. They often hold names that others chose (paths, SQL), so
 * control characters never reach the terminal. */
#include "diag.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static void make_one_line(char *text)
{
        for (unsigned char *c = (unsigned char *)text; *c; c++)
                if (iscntrl(*c))
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
        make_one_line(diag->text);
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
        make_one_line(diag.text);
        diag_print(command, &diag);
}
