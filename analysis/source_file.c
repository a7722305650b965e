/* SPDX-License-Identifier: MIT */
/* Looks where gdb looks: 'set substitute-path', then 'directory'. */
#include "source_file.h"

#include <stdlib.h>
#include <string.h>

#include "source_text.h"

bool source_substitution_parse(const char *text, struct source_substitution *substitution)
{
        const char *equals = strchr(text, '=');
        if (!equals || equals == text)
                return false;
        size_t from_bytes = (size_t)(equals - text);
        while (from_bytes > 1 && text[from_bytes - 1] == '/')
                from_bytes--;
        *substitution = (struct source_substitution){text, from_bytes, equals + 1};
        return true;
}

/* A copy of PATH after the first substitution that fits. */
static char *substituted(const struct source_search *search, const char *path)
{
        char *result = NULL;
        for (size_t i = 0; i < search->substitution_count; i++) {
                const struct source_substitution *s = &search->substitutions[i];
                const char *rest = path + s->from_bytes;
                if (strncmp(path, s->from, s->from_bytes) == 0 &&
                    (*rest == '/' || !*rest || s->from[s->from_bytes - 1] == '/'))
                        return asprintf(&result, "%s%s%s", s->to,
                                        *rest && *rest != '/' ? "/" : "", rest) < 0
                                   ? NULL
                                   : result;
        }
        return strdup(path);
}

static FILE *open_below(const char *directory, const char *path, struct stat *status,
                        char **found)
{
        while (path) {
                while (*path == '/')
                        path++;
                if (!*path || asprintf(found, "%s/%s", directory, path) < 0)
                        break;
                FILE *file = source_text_open(*found, status);
                if (file)
                        return file;
                free(*found);
                path = strchr(path, '/');
        }
        *found = NULL;
        return NULL;
}

FILE *source_file_open(const struct source_search *search, const char *path,
                       struct stat *status, char **found)
{
        *found = substituted(search, path);
        FILE *file = *found ? source_text_open(*found, status) : NULL;
        if (file)
                return file;
        free(*found);
        *found = NULL;
        for (size_t i = 0; i < search->directory_count && !file; i++)
                file = open_below(search->directories[i], path, status, found);
        return file;
}
