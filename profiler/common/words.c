/* SPDX-License-Identifier: MIT */
/* Command lines as text. */
#include "words.h"

#include <stdio.h>
#include <string.h>

/* Prints TEXT quoted as one shell word. */
static void print_quoted(FILE *out, const char *text)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_-+=./:,@%";
        if (*text && strspn(text, plain) == strlen(text)) {
                fputs(text, out);
                return;
        }
        fputc('\'', out);
        for (; *text; text++) {
                if (*text == '\'')
                        fputs("'\\''", out);
                else
                        fputc(*text, out);
        }
        fputc('\'', out);
}

char *words_join(const char *const *words)
{
        char *joined = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&joined, &size);
        if (!out)
                return NULL;
        for (size_t i = 0; words && words[i]; i++) {
                if (i)
                        fputc(' ', out);
                print_quoted(out, words[i]);
        }
        return fclose(out) == 0 ? joined : NULL;
}
