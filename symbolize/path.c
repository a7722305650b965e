/* SPDX-License-Identifier: MIT */
/* File names as text. */
#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes "." and empty components out of PATH in place. */
static void remove_dots(char *path)
{
        char *begin = path + (*path == '/');
        char *to = begin;

        for (const char *from = path; *from;) {
                from += strspn(from, "/");
                size_t length = strcspn(from, "/");

                if (length > 1 || (length == 1 && *from != '.')) {
                        if (to > begin)
                                *to++ = '/';
                        memmove(to, from, length);
                        to += length;
                }
                from += length;
        }
        *to = '\0';
}

char *path_join(const char *directory, const char *path)
{
        char *joined;

        if (path[0] == '/' || !directory || !*directory)
                joined = strdup(path);
        else if (asprintf(&joined, "%s/%s", directory, path) < 0)
                joined = NULL;
        if (joined)
                remove_dots(joined);
        return joined;
}

const char *path_base(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}
