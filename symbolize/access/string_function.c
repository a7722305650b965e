/* SPDX-License-Identifier: MIT */
/* The functions of <string.h> and <strings.h> that take strings; glibc names the
 * versions. */
#include "string_function.h"

#include <stddef.h>
#include <string.h>

/* The rest of a version's name; "_l" is the variant with a locale. */
static bool ends_name(const char *rest)
{
        return *rest == '\0' || *rest == '_';
}

bool string_member(const char *name)
{
        static const char *const strings[] = {
            "std::__cxx11::basic_string<char, std::char_traits<char>,",
            "std::basic_string<char, std::char_traits<char>,",
            "std::__1::basic_string<char, std::__1::char_traits<char>,"};

        for (size_t i = 0; name && i < sizeof(strings) / sizeof(*strings); i++)
                if (strncmp(name, strings[i], strlen(strings[i])) == 0)
                        return true;
        return false;
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
