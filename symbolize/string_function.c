/* SPDX-License-Identifier: MIT */
/* The functions are those of <string.h> and <strings.h> that take strings; the versions
 * are named as glibc names them. */
#include "string_function.h"

#include <stddef.h>
#include <string.h>

/* What a version's name goes on with, "_l" being the variant with a locale. */
static bool ends_name(const char *rest)
{
        return *rest == '\0' || *rest == '_';
}

bool string_function(const char *name)
{
        static const char *const functions[] = {
            "strlen",      "strnlen", "strcmp",  "strncmp",   "strcasecmp",
            "strncasecmp", "strchr",  "strrchr", "strchrnul", "strcpy",
            "strncpy",     "stpcpy",  "stpncpy", "strcat",    "strncat",
            "strspn",      "strcspn", "strpbrk", "strstr",    "strcasestr"};

        if (!name)
                return false;
        while (*name == '_')
                name++;
        for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
                size_t length = strlen(functions[i]);

                if (strncmp(name, functions[i], length) == 0 && ends_name(name + length))
                        return true;
        }
        return false;
}
