/* SPDX-License-Identifier: MIT */
/* See root_file.h. */
#include "root_file.h"

#include <limits.h>
#include <string.h>

FILE *root_file_open(const char *root, const char *path)
{
        char joined[PATH_MAX];
        if (snprintf(joined, sizeof(joined), "%s%s", root, path) >= (int)sizeof(joined))
                return NULL;
        return fopen(joined, "re");
}

bool root_file_line(const char *root, const char *path, char *text, size_t size)
{
        FILE *file = root_file_open(root, path);
        if (!file)
                return false;
        size_t length = fread(text, 1, size - 1, file);
        text[length] = '\0';
        text[strcspn(text, "\n")] = '\0';
        bool whole = !ferror(file) && length < size - 1;
        fclose(file);
        return whole;
}
