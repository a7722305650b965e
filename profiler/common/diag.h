/* SPDX-License-Identifier: MIT */
/* Error messages of all parts of memlag. The message is built where the facts are known,
 * and printed in one line by the command that gives up. */
#ifndef MEMLAG_DIAG_H
#define MEMLAG_DIAG_H

#include <stddef.h>

struct diag {
        char text[1024]; /* one line, no newline, no leading "memlag:" */
};

/* Stores a message in DIAG and returns CODE, a negative errno value. A function can end
 * with `return diag_set(diag, -ENOENT, ...)`. DIAG may be NULL. */
int diag_set(struct diag *diag, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for -ENOMEM, with a suitable message. */
int diag_no_memory(struct diag *diag);

/* Returns the length in bytes of the control character at TEXT, valid UTF-8 or not: C0,
 * DEL, C1, or a bidirectional control character. 0: another character, or the end. */
size_t diag_control(const char *text);

/* Replaces control characters by blanks. */
void diag_clean(char *text);

/* Prints "memlag COMMAND: MESSAGE" as one line on stderr. */
void diag_print(const char *command, const struct diag *diag);

/* Prints "memlag COMMAND: " and the formatted message as one line on stderr. */
void diag_printf(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
