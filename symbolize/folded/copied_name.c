/* SPDX-License-Identifier: MIT */
#include "copied_name.h"

#include <string.h>

bool copied_name(const char *symbol)
{
        return strstr(symbol, ".constprop.") || strstr(symbol, ".isra.") ||
               strstr(symbol, ".part.");
}

static bool is_number(const char *text, size_t length)
{
        return length > 0 && strspn(text, "0123456789") >= length;
}

/* The part of SYMBOL that a linker or compiler tells functions of one name in several
 * files by, which it may end with; and how many characters it has. */
static size_t file_part(const char *symbol, const char **part)
{
        static const char *const words[] = {".lto_priv", ".llvm"};
        const char *at = symbol + strcspn(symbol, ".@");

        *part = at;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (strncmp(at, words[i], strlen(words[i])) == 0)
                        at += strlen(words[i]);
        size_t digits = *at == '.' ? strcspn(at + 1, ".@") : 0;

        return *at == '.' && is_number(at + 1, digits) ? (size_t)(at - *part) + 1 + digits
                                                       : 0;
}

bool copied_names_differ(const char *a, const char *b)
{
        const char *part_a, *part_b;
        size_t length = file_part(a, &part_a);

        return file_part(b, &part_b) != length || strncmp(part_a, part_b, length) != 0;
}
