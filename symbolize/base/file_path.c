/* SPDX-License-Identifier: MIT */
/* File names as text. */
#include "file_path.h"

#include <stdbool.h>
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

/* Where the last component of the text from BEGIN up to END begins. */
static char *last_component(char *begin, char *end)
{
        while (end > begin && end[-1] != '/')
                end--;
        return end;
}

char *path_without_parents(const char *path)
{
        char *whole = malloc(strlen(path) + 2);

        if (!whole)
                return NULL;
        char *begin = whole, *to;

        if (*path == '/')
                *begin++ = '/';
        to = begin;
        for (size_t length; *path; path += length) {
                path += strspn(path, "/");
                length = strcspn(path, "/");
                bool up = length == 2 && strncmp(path, "..", 2) == 0;
                char *last = last_component(begin, to > begin ? to - 1 : to);

                if (up && to > begin && strncmp(last, "../", 3) != 0) {
                        to = last;
                } else if (length > 0 && (!up || begin == whole)) {
                        to = mempcpy(to, path, length);
                        *to++ = '/';
                }
        }
        to[-(to > begin)] = '\0';
        return whole;
}

const char *path_base(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}
